/** Temporary credentials from AWS: AssumeRole, narrowed by a session policy to one person's topic tree. */
import { randomBytes } from 'node:crypto';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { errors } from '../../errors.ts';
import { CREDENTIAL_LIFETIME, reachOf, type CredentialIssuer } from '../credentials.ts';
import { makeSessionPolicy, type ArnPrefix } from '../policy.ts';
import { makeClientSettings, type AwsAccess } from './aws.ts';
import { askAws } from './aws-errors.ts';

export interface StsOptions extends AwsAccess {
  arnPrefix: ArnPrefix;
  /** The role whose rights the session policy narrows. */
  roleArn: string;
}

/** Opens an issuer of temporary AWS credentials for people. `close()` ends its connections. */
export function openStsIssuer({ arnPrefix, roleArn, ...access }: StsOptions): CredentialIssuer & { close(): void } {
  const client = new STSClient(makeClientSettings(access));
  return {
    async issue(userId) {
      const reach = reachOf(userId);
      const answer = await askAws(
        client.send(
          new AssumeRoleCommand({
            RoleArn: roleArn,
            RoleSessionName: `${userId}-${randomBytes(4).toString('hex')}`,
            DurationSeconds: CREDENTIAL_LIFETIME,
            Policy: JSON.stringify(makeSessionPolicy(arnPrefix, userId)),
          }),
        ),
      );
      const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answer.Credentials ?? {};
      if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw errors.registryUnavailable();
      return { ...reach, accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expiration: Expiration };
    },
    close() {
      client.destroy();
    },
  };
}
