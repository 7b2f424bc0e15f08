import {
  DescribeCertificateCommand,
  DescribeThingCommand,
  GetPolicyCommand,
  IoTClient,
  ListAttachedPoliciesCommand,
  ListThingPrincipalsCommand,
} from '@aws-sdk/client-iot';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAllowed, type PolicyDocument } from '../../src/iot/evaluator.ts';
import { openAwsRegistry } from '../../src/iot/registries/aws.ts';
import { credentialsContract } from '../contracts/credentials.suite.ts';
import { registryContract } from '../contracts/registry.suite.ts';
import { storageContract } from '../contracts/storage.suite.ts';
import { openStsIssuer } from '../../src/iot/registries/sts.ts';
import { openS3Store } from '../../src/storage/s3.ts';
import { makePerson } from '../support/cast.ts';
import { startMoto } from '../support/moto.ts';
import { sharedSite, spawnServer } from '../support/process.ts';

/** The AWS implementations against moto. Not part of `npm test`: it needs Python and a package index. */
let endpoint: string;
let stop: () => Promise<unknown>;
beforeAll(async () => {
  ({ endpoint, stop } = await startMoto());
});
afterAll(() => stop());

const access = () => ({ region: 'eu-central-1', endpoint, credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' } });

registryContract('AWS', () => {
  const client = new IoTClient(access());
  const registry = openAwsRegistry({ ...access(), accountId: '123456789012' });
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
  openStsIssuer({
    ...access(),
    arnPrefix: 'arn:aws:iot:eu-central-1:123456789012',
    roleArn: 'arn:aws:iam::123456789012:role/fieldlake-people',
  }),
);

storageContract('s3 at moto', async () => {
  const client = new S3Client({ ...access(), forcePathStyle: true });
  await client.send(
    new CreateBucketCommand({ Bucket: 'field-objects', CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } }),
  );
  client.destroy();
  const store = openS3Store({ bucket: 'field-objects', ...access() });
  return { store, close: () => store.close() };
});

test(
  'a whole server with AWS IoT and a bucket: register, certify, onboard, credentials, rotate, revoke and delete through HTTP, and what AWS then holds',
  {
    timeout: 180_000,
  },
  async () => {
    const iot = new IoTClient(access());
    const s3 = new S3Client({ ...access(), forcePathStyle: true });
    const bucket = 'walked-objects';
    await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } }));
    s3.destroy();
    const site = await sharedSite();
    const server = await spawnServer({
      ...site.environment,
      AWS_IOT_REGION: 'eu-central-1',
      AWS_IOT_ACCOUNT: '123456789012',
      AWS_IOT_ENDPOINT: endpoint,
      AWS_IOT_THING_GROUP: 'fieldlake',
      AWS_IOT_ROLE_ARN: 'arn:aws:iam::123456789012:role/fieldlake-people',
      AWS_ACCESS_KEY_ID: 'testing',
      AWS_SECRET_ACCESS_KEY: 'testing',
      S3_BUCKET: bucket,
      S3_REGION: 'eu-central-1',
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: 'testing',
      S3_SECRET_ACCESS_KEY: 'testing',
    });
    try {
      const owner = await makePerson(site.database.db, 'owner');
      const call = async (method: string, path: string, body?: object) => {
        const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
          method,
          headers: { 'x-api-key': owner.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        return { status: response.status, body: (await response.json()) as any };
      };
      const { id: experimentId } = (await call('POST', 'experiments', { name: 'Clouded' })).body;
      const made = await call('POST', 'devices', { serialNumber: 'E8:F6:0A', deviceType: 'multispeq' });
      expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
      const { id, thingName, thingArn } = made.body;
      expect(thingArn).toBe(`arn:aws:iot:eu-central-1:123456789012:thing/${thingName}`);
      const thing = await iot.send(new DescribeThingCommand({ thingName }));
      expect(thing.attributes).toMatchObject({ deviceType: 'multispeq' });

      const principals = async () => (await iot.send(new ListThingPrincipalsCommand({ thingName }))).principals ?? [];
      const statusOf = async (certificateId: string) =>
        (await iot.send(new DescribeCertificateCommand({ certificateId }))).certificateDescription?.status;
      const issued = await call('POST', `devices/${id}/credentials`, {});
      expect(issued).toMatchObject({ status: 201, body: { privateKey: expect.stringContaining('PRIVATE KEY') } });
      expect(await principals()).toEqual([issued.body.certificateArn]);
      expect(await statusOf(issued.body.certificateId)).toBe('ACTIVE');

      const config = await call('POST', `devices/${id}/onboard`, { experimentIds: [experimentId] });
      expect(config).toMatchObject({
        status: 200,
        body: { thingName, endpoint: expect.stringContaining('iot.eu-central-1.amazonaws.com') },
      });
      const documents = async (target: string): Promise<PolicyDocument[]> => {
        const { policies = [] } = await iot.send(new ListAttachedPoliciesCommand({ target }));
        return Promise.all(
          policies.map(
            async ({ policyName }) => JSON.parse((await iot.send(new GetPolicyCommand({ policyName }))).policyDocument!) as PolicyDocument,
          ),
        );
      };
      const mayPublish = async (target: string, experiment: string) =>
        isAllowed(await documents(target), {
          action: 'iot:Publish',
          resource: `arn:aws:iot:eu-central-1:123456789012:topic/experiment/data_ingest/v1/${experiment}/multispeq/2.0/sensor-1`,
          variables: { 'iot:Connection.Thing.ThingName': thingName },
        });
      // policies are written after the answer
      await expect.poll(() => mayPublish(issued.body.certificateArn, experimentId)).toBe(true);
      expect(await mayPublish(issued.body.certificateArn, '00000000-0000-4000-8000-000000000000')).toBe(false);
      expect((await call('GET', `devices/${id}`)).body).toHaveProperty('connectivity');

      expect(await call('GET', 'iot/credentials')).toMatchObject({
        status: 200,
        body: { accessKeyId: expect.any(String), secretAccessKey: expect.any(String), sessionToken: expect.any(String) },
      });
      const { body: upload } = await call('POST', 'iot/upload-url', { experimentId });
      expect(upload.uploadUrl).toContain(bucket);
      const put = await fetch(upload.uploadUrl, {
        method: 'PUT',
        headers: upload.headers,
        body: JSON.stringify({ timestamp: '2026-05-01T10:00:00Z', sample: { spad: 1 } }),
      });
      expect(put.status).toBe(200);

      const rotated = await call('POST', `devices/${id}/credentials/rotate`, {});
      expect(rotated.status).toBe(201);
      await expect.poll(principals).toEqual([rotated.body.certificateArn]);
      await expect.poll(() => mayPublish(rotated.body.certificateArn, experimentId)).toBe(true);
      expect((await call('DELETE', `experiments/${experimentId}/devices/${id}`)).status).toBe(200);
      await expect.poll(() => mayPublish(rotated.body.certificateArn, experimentId)).toBe(false);

      expect(await call('DELETE', `devices/${id}/credentials`)).toMatchObject({
        status: 200,
        body: { status: 'revoked', certificateId: null },
      });
      expect(await principals()).toEqual([]);
      const again = await call('POST', `devices/${id}/credentials`, {});
      expect(again.status).toBe(201);
      expect((await call('DELETE', `devices/${id}`)).status).toBe(200);
      await expect(iot.send(new DescribeThingCommand({ thingName }))).rejects.toThrow(/not exist|not found/i);
      expect((await call('GET', `devices/${id}`)).status).toBe(404);
      // several at once
      const bulk = await call('POST', 'devices/bulk', {
        devices: [{ serialNumber: 'B-1' }, { serialNumber: 'B-2' }],
        deviceType: 'ambyte',
        group: { name: 'Clouded group' },
      });
      expect(bulk.body.devices.map(({ error }: { error: string | null }) => error)).toEqual([null, null]);
      const certified = await call('POST', `device-groups/${bulk.body.groupId}/credentials`, {});
      expect(certified.body.devices.map(({ error }: { error: string | null }) => error)).toEqual([null, null]);
    } finally {
      await server.kill('SIGTERM');
      await site.remove();
      iot.destroy();
    }
  },
);
