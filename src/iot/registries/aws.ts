/** AWS IoT Core as the device registry. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AddThingToThingGroupCommand,
  AttachThingPrincipalCommand,
  CreateCertificateFromCsrCommand,
  CreateThingCommand,
  CreateThingGroupCommand,
  DeleteCertificateCommand,
  DeleteThingCommand,
  DescribeCertificateCommand,
  DescribeEndpointCommand,
  DescribeThingCommand,
  DetachPolicyCommand,
  DetachThingPrincipalCommand,
  IoTClient,
  paginateListAttachedPolicies,
  paginateListPrincipalThings,
  paginateListThingPrincipals,
  UpdateCertificateCommand,
} from '@aws-sdk/client-iot';
import { errors } from '../../errors.ts';
import { readSigningRequest } from '../keys.ts';
import type { CertificateEvent } from '../lifecycle.ts';
import { certificateLife } from '../lifecycle.ts';
import type { ArnPrefix } from '../policy.ts';
import type { CertificateStatus, DeviceRegistry, RegisteredCertificate } from '../registry.ts';
import { readAllPages, askAws, findAwsErrorName, translateAwsError, findInAws } from './aws-errors.ts';
import { searchConnectivity } from './aws-fleet.ts';
import { openAwsPolicies } from './aws-policies.ts';

export interface AwsAccess {
  region: string;
  /** Another AWS-API server, for tests and private clouds. */
  endpoint?: string | undefined;
  /** Without them, the SDK's own chain (role, profile). */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

export interface AwsRegistryOptions extends AwsAccess {
  /** 12 digits. */
  accountId: string;
  /** `aws`, `aws-cn` … */
  partition?: string;
  /** A thing type that declares `deviceType` and `serialNumber` searchable; none by default. */
  thingType?: string | undefined;
  /** Milliseconds between tries of a deletion that AWS refuses while a detachment spreads. */
  settlePauses?: readonly number[];
}

const statuses: Readonly<Record<string, CertificateStatus>> = { ACTIVE: 'active', REVOKED: 'revoked' };
const toAws = { active: 'ACTIVE', inactive: 'INACTIVE', revoked: 'REVOKED' } as const;
const settling = ['DeleteConflictException', 'InvalidRequestException', 'CertificateStateException'];

/** Opens AWS IoT Core as a registry. Every call it makes, and the least rights it needs, are listed in docs/aws-iot.md. `close()` ends its connections. */
export function openAwsRegistry(options: AwsRegistryOptions): DeviceRegistry & { close(): void } {
  const { region, accountId, partition = 'aws', endpoint, credentials, thingType, settlePauses = [250, 1_000, 2_000, 4_000] } = options;
  const arnPrefix: ArnPrefix = `arn:${partition}:iot:${region}:${accountId}`;
  const client = new IoTClient({
    region,
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 15_000 },
    ...(endpoint ? { endpoint } : {}),
    ...(credentials ? { credentials } : {}),
  });
  const certificateArn = (certificateId: string) => `${arnPrefix}:cert/${certificateId}`;
  const policies = openAwsPolicies(client);
  let dataEndpoint: Promise<string> | null = null;

  /** Deletes, and tries again while AWS refuses to, because detaching takes a while to spread. */
  async function settle(remove: () => Promise<unknown>): Promise<void> {
    for (const wait of [...settlePauses, null]) {
      try {
        await remove();
        return;
      } catch (cause) {
        const name = findAwsErrorName(cause);
        if (name === 'ResourceNotFoundException') return;
        if (wait === null || !settling.includes(name)) throw translateAwsError(cause);
        await sleep(wait);
      }
    }
  }

  const principals = async (thingName: string) => {
    const all = await readAllPages(paginateListThingPrincipals({ client }, { thingName }), (page) => page.principals);
    return all.filter((arn) => arn.includes(':cert/'));
  };

  async function statusOf(certificateId: string): Promise<CertificateStatus | 'absent'> {
    const answer = await findInAws(client.send(new DescribeCertificateCommand({ certificateId })));
    return answer ? (statuses[answer.certificateDescription?.status ?? ''] ?? 'inactive') : 'absent';
  }

  const setStatus = async (certificateId: string, status: CertificateStatus) =>
    askAws(client.send(new UpdateCertificateCommand({ certificateId, newStatus: toAws[status] })), () => errors.certificateNotFound());

  async function listCertificates(thingName: string): Promise<RegisteredCertificate[]> {
    const found: RegisteredCertificate[] = [];
    for (const arn of await principals(thingName)) {
      const certificateId = arn.slice(arn.indexOf(':cert/') + ':cert/'.length);
      const status = await statusOf(certificateId);
      if (status !== 'absent') found.push({ certificateId, certificateArn: arn, status });
    }
    return found;
  }

  async function happen(certificateId: string, event: Exclude<CertificateEvent, 'delete'>): Promise<void> {
    const status = await statusOf(certificateId);
    const outcome = certificateLife[status][event];
    if ('refused' in outcome)
      throw outcome.refused === 'unknown'
        ? errors.certificateNotFound()
        : errors.deviceStateRefused('A revoked certificate stays revoked.');
    if (outcome.to !== status && outcome.to !== 'absent') await setStatus(certificateId, outcome.to);
  }

  async function deleteCertificate(certificateId: string): Promise<void> {
    const status = await statusOf(certificateId);
    if (status === 'absent') return;
    const arn = certificateArn(certificateId);
    if (status !== 'revoked') await setStatus(certificateId, 'revoked');
    for (const { policyName } of await readAllPages(paginateListAttachedPolicies({ client }, { target: arn }), (page) => page.policies)) {
      await findInAws(client.send(new DetachPolicyCommand({ policyName, target: arn })));
    }
    for (const thingName of await readAllPages(paginateListPrincipalThings({ client }, { principal: arn }), (page) => page.things)) {
      await findInAws(client.send(new DetachThingPrincipalCommand({ thingName, principal: arn })));
    }
    await settle(() => client.send(new DeleteCertificateCommand({ certificateId, forceDelete: true })));
  }

  return {
    arnPrefix,
    async createThing({ thingName, deviceType, serialNumber }) {
      const attributePayload = { attributes: { deviceType, serialNumber } };
      const known = await findInAws(client.send(new DescribeThingCommand({ thingName })));
      if (known && (known.attributes?.['deviceType'] !== deviceType || known.attributes['serialNumber'] !== serialNumber))
        throw errors.registryConflict();
      if (known) return { thingArn: known.thingArn ?? `${arnPrefix}:thing/${thingName}` };
      const answer = await askAws(
        client.send(new CreateThingCommand({ thingName, attributePayload, ...(thingType ? { thingTypeName: thingType } : {}) })),
      );
      return { thingArn: answer.thingArn ?? `${arnPrefix}:thing/${thingName}` };
    },
    async deleteThing(thingName) {
      for (const { certificateId } of await listCertificates(thingName)) await deleteCertificate(certificateId);
      await policies.set(thingName, [], []);
      for (const principal of await principals(thingName))
        await findInAws(client.send(new DetachThingPrincipalCommand({ thingName, principal })));
      await settle(() => client.send(new DeleteThingCommand({ thingName })));
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
      await happen(certificateId, 'deactivate');
      await askAws(client.send(new AttachThingPrincipalCommand({ thingName, principal: arn })));
      return { certificateId, certificateArn: arn, certificatePem };
    },
    activateCertificate: async (_thingName, id) => happen(id, 'activate'),
    deactivateCertificate: async (_thingName, id) => happen(id, 'deactivate'),
    revokeCertificate: async (_thingName, id) => happen(id, 'revoke'),
    deleteCertificate: async (_thingName, id) => deleteCertificate(id),
    listCertificates,
    async setPolicies(thingName, documents) {
      await askAws(client.send(new DescribeThingCommand({ thingName })));
      await policies.set(thingName, documents, await principals(thingName));
    },
    connectivity: async (thingNames) => searchConnectivity(client, thingNames),
    async endpoint() {
      dataEndpoint ??= askAws(client.send(new DescribeEndpointCommand({ endpointType: 'iot:Data-ATS' }))).then(({ endpointAddress }) => {
        if (!endpointAddress) throw errors.registryUnavailable();
        return endpointAddress;
      });
      return dataEndpoint.catch((cause: unknown) => {
        dataEndpoint = null;
        throw cause as Error;
      });
    },
    close() {
      client.destroy();
    },
  };
}
