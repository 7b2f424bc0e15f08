import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GetPolicyCommand, IoTClient, ListAttachedPoliciesCommand } from '@aws-sdk/client-iot';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll } from 'vitest';
import { awsRegistry } from '../../src/iot/registries/aws.ts';
import { credentialsContract } from '../contracts/credentials.suite.ts';
import { registryContract } from '../contracts/registry.suite.ts';
import { storageContract } from '../contracts/storage.suite.ts';
import { stsCredentials } from '../../src/iot/registries/sts.ts';
import { openS3Store } from '../../src/storage/s3.ts';
import { pythonWith } from '../support/python.ts';

/**
 * The AWS implementations against moto, an AWS-API server from PyPI, installed from there (or MOTO_ENDPOINT, if one runs already).
 * Not part of `npm test`: it needs Python and a package index.
 */
let endpoint = process.env['MOTO_ENDPOINT'] ?? '';
let stop: () => Promise<unknown> = () => Promise.resolve();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

beforeAll(async () => {
  if (endpoint) return;
  const programs = pythonWith('moto[server,iot,sts,s3]');
  const port = await freePort();
  endpoint = `http://127.0.0.1:${port}`;
  const server = spawn(join(programs, 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  stop = () => {
    server.kill();
    return once(server, 'exit');
  };
  for (let tries = 0; ; tries++) {
    const up = await fetch(`${endpoint}/moto-api/`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (up) return;
    if (tries > 100) throw new Error('moto did not start');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}, 300_000);

afterAll(async () => {
  await stop();
});

const access = () => ({ region: 'eu-central-1', endpoint, credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' } });

registryContract('AWS', () => {
  const client = new IoTClient(access());
  const registry = awsRegistry({ ...access(), accountId: '123456789012' });
  return Promise.resolve({
    registry,
    close: () => {
      registry.close();
      client.destroy();
    },
    async attached(target: string) {
      const { policies = [] } = await client.send(new ListAttachedPoliciesCommand({ target }));
      return Promise.all(
        policies.map(async ({ policyName }) => {
          const { policyDocument } = await client.send(new GetPolicyCommand({ policyName }));
          return { name: policyName!, document: policyDocument! };
        }),
      );
    },
  });
});

credentialsContract('AWS', () =>
  stsCredentials({
    ...access(),
    arnPrefix: 'arn:aws:iot:eu-central-1:123456789012',
    roleArn: 'arn:aws:iam::123456789012:role/fieldlake-people',
    objects: { bucket: 'field-objects', keyPrefix: 'large-iot/' },
  }),
);

storageContract(
  's3 at moto',
  async () => {
    const client = new S3Client({ ...access(), forcePathStyle: true });
    await client.send(
      new CreateBucketCommand({ Bucket: 'field-objects', CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } }),
    );
    client.destroy();
    const store = openS3Store({ bucket: 'field-objects', ...access() });
    return { store, close: () => store.close() };
  },
  // moto does not either
  false,
);
