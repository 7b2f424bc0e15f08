/** AWS IoT Core as the device registry. */
import {
  AddThingToThingGroupCommand,
  AttachThingPrincipalCommand,
  CreateCertificateFromCsrCommand,
  CreateThingCommand,
  CreateThingGroupCommand,
  DeleteThingCommand,
  DescribeEndpointCommand,
  DescribeThingCommand,
  DetachThingPrincipalCommand,
  IoTClient,
} from '@aws-sdk/client-iot';
import { errors } from '../../errors.ts';
import { Kept } from '../../kept.ts';
import { readSigningRequest } from '../keys.ts';
import type { ArnPrefix } from '../policy.ts';
import type { DeviceRegistry } from '../registry.ts';
import { deleteSettling, openAwsCertificates } from './aws-certificates.ts';
import { askAws, findInAws } from './aws-errors.ts';
import { searchConnectivity } from './aws-fleet.ts';
import { openAwsPolicies } from './aws-policies.ts';

export interface AwsAccess {
  region: string;
  /** Another AWS-API server, for tests and private clouds. */
  endpoint?: string | undefined;
  /** Without them, the SDK's own chain (role, profile). */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

/** How long and how often a client of AWS tries. */
export const makeClientSettings = ({ region, endpoint, credentials }: AwsAccess) => ({
  region,
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 15_000 },
  ...(endpoint ? { endpoint } : {}),
  ...(credentials ? { credentials } : {}),
});

export interface AwsRegistryOptions extends AwsAccess {
  /** 12 digits. */
  accountId: string;
}

/** Opens AWS IoT Core as a registry. Every call it makes, and the least rights it needs, are listed in docs/aws-iot.md. `close()` ends its connections. */
export function openAwsRegistry(options: AwsRegistryOptions): DeviceRegistry & { close(): void } {
  const { region, accountId } = options;
  const arnPrefix: ArnPrefix = `arn:aws:iot:${region}:${accountId}`;
  const client = new IoTClient(makeClientSettings(options));
  const policies = openAwsPolicies(client);
  const certificates = openAwsCertificates(client, arnPrefix);
  const endpoint = new Kept(async () => {
    const { endpointAddress } = await askAws(client.send(new DescribeEndpointCommand({ endpointType: 'iot:Data-ATS' })));
    if (!endpointAddress) throw errors.registryUnavailable();
    return endpointAddress;
  });

  return {
    arnPrefix,
    async createThing({ thingName, deviceType, serialNumber }) {
      const attributePayload = { attributes: { deviceType, serialNumber } };
      const known = await findInAws(client.send(new DescribeThingCommand({ thingName })));
      if (known && (known.attributes?.['deviceType'] !== deviceType || known.attributes['serialNumber'] !== serialNumber))
        throw errors.registryConflict();
      if (!known) await askAws(client.send(new CreateThingCommand({ thingName, attributePayload })));
    },
    async deleteThing(thingName) {
      for (const { certificateId } of await certificates.list(thingName)) await certificates.remove(certificateId);
      await policies.set(thingName, [], []);
      for (const principal of await certificates.listPrincipals(thingName))
        await findInAws(client.send(new DetachThingPrincipalCommand({ thingName, principal })));
      await deleteSettling(() => client.send(new DeleteThingCommand({ thingName })));
    },
    async addToGroup(thingName, thingGroupName) {
      await askAws(client.send(new DescribeThingCommand({ thingName })));
      const add = async () => client.send(new AddThingToThingGroupCommand({ thingName, thingGroupName }));
      if (await findInAws(add())) return;
      await askAws(client.send(new CreateThingGroupCommand({ thingGroupName })));
      await askAws(add());
    },
    async issueCertificate(thingName, csr) {
      await readSigningRequest(csr);
      await askAws(client.send(new DescribeThingCommand({ thingName })));
      const answer = await askAws(client.send(new CreateCertificateFromCsrCommand({ certificateSigningRequest: csr, setAsActive: false })));
      const { certificateId, certificateArn: arn, certificatePem } = answer;
      if (!certificateId || !arn || !certificatePem) throw errors.registryUnavailable();
      await certificates.change(certificateId, 'deactivate');
      await askAws(client.send(new AttachThingPrincipalCommand({ thingName, principal: arn })));
      return { certificateId, certificateArn: arn, certificatePem };
    },
    activateCertificate: async (_thingName, id) => certificates.change(id, 'activate'),
    revokeCertificate: async (_thingName, id) => certificates.change(id, 'revoke'),
    deleteCertificate: async (_thingName, id) => certificates.remove(id),
    listCertificates: certificates.list,
    async setPolicies(thingName, documents) {
      await askAws(client.send(new DescribeThingCommand({ thingName })));
      await policies.set(thingName, documents, await certificates.listPrincipals(thingName));
    },
    connectivity: async (thingNames) => searchConnectivity(client, thingNames),
    endpoint: () => endpoint.get(),
    close() {
      client.destroy();
    },
  };
}
