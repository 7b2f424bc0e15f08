/** A thing's certificates in AWS IoT. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteCertificateCommand,
  DescribeCertificateCommand,
  DetachPolicyCommand,
  DetachThingPrincipalCommand,
  paginateListAttachedPolicies,
  paginateListPrincipalThings,
  paginateListThingPrincipals,
  UpdateCertificateCommand,
  type IoTClient,
} from '@aws-sdk/client-iot';
import { errors } from '../../errors.ts';
import { decideCertificate, type CertificateEvent } from '../lifecycle.ts';
import type { ArnPrefix } from '../policy.ts';
import type { CertificateStatus, RegisteredCertificate } from '../registry.ts';
import { readAllPages, askAws, findAwsErrorName, translateAwsError, findInAws } from './aws-errors.ts';

const statuses: Readonly<Record<string, CertificateStatus>> = { ACTIVE: 'active', REVOKED: 'revoked' };
const toAws = { active: 'ACTIVE', inactive: 'INACTIVE', revoked: 'REVOKED' } as const;
const SETTLING = ['DeleteConflictException', 'InvalidRequestException', 'CertificateStateException'];

/** Between tries of a deletion that AWS refuses while a detachment spreads. */
const SETTLE_PAUSES_MS = [250, 1_000, 2_000, 4_000];

/** Deletes something, and tries again while AWS refuses to, because detaching takes a while to spread. */
export async function deleteSettling(remove: () => Promise<unknown>): Promise<void> {
  for (const wait of [...SETTLE_PAUSES_MS, null]) {
    try {
      await remove();
      return;
    } catch (cause) {
      const name = findAwsErrorName(cause);
      if (name === 'ResourceNotFoundException') return;
      if (wait === null || !SETTLING.includes(name)) throw translateAwsError(cause);
      await sleep(wait);
    }
  }
}

/** The part of the AWS registry that lists, changes and removes certificates. */
export function openAwsCertificates(client: IoTClient, arnPrefix: ArnPrefix) {
  const listPrincipals = async (thingName: string) => {
    const all = await readAllPages(paginateListThingPrincipals({ client }, { thingName }), (page) => page.principals);
    return all.filter((arn) => arn.includes(':cert/'));
  };

  async function statusOf(certificateId: string): Promise<CertificateStatus | 'absent'> {
    const answer = await findInAws(client.send(new DescribeCertificateCommand({ certificateId })));
    return answer ? (statuses[answer.certificateDescription?.status ?? ''] ?? 'inactive') : 'absent';
  }

  const setStatus = async (certificateId: string, status: CertificateStatus) =>
    askAws(client.send(new UpdateCertificateCommand({ certificateId, newStatus: toAws[status] })), () => errors.certificateNotFound());

  async function list(thingName: string): Promise<RegisteredCertificate[]> {
    const found: RegisteredCertificate[] = [];
    for (const arn of await listPrincipals(thingName)) {
      const certificateId = arn.slice(arn.indexOf(':cert/') + ':cert/'.length);
      const status = await statusOf(certificateId);
      if (status !== 'absent') found.push({ certificateId, status });
    }
    return found;
  }

  /** Lets an event of its life happen to a certificate, where its status allows it. */
  async function change(certificateId: string, event: Exclude<CertificateEvent, 'delete'>): Promise<void> {
    const status = await statusOf(certificateId);
    const next = decideCertificate(status, event);
    if (next !== status && next !== 'absent') await setStatus(certificateId, next);
  }

  async function remove(certificateId: string): Promise<void> {
    const status = await statusOf(certificateId);
    if (status === 'absent') return;
    const arn = `${arnPrefix}:cert/${certificateId}`;
    if (status !== 'revoked') await setStatus(certificateId, 'revoked');
    for (const { policyName } of await readAllPages(paginateListAttachedPolicies({ client }, { target: arn }), (page) => page.policies)) {
      await findInAws(client.send(new DetachPolicyCommand({ policyName, target: arn })));
    }
    for (const thingName of await readAllPages(paginateListPrincipalThings({ client }, { principal: arn }), (page) => page.things)) {
      await findInAws(client.send(new DetachThingPrincipalCommand({ thingName, principal: arn })));
    }
    await deleteSettling(() => client.send(new DeleteCertificateCommand({ certificateId, forceDelete: true })));
  }

  return { listPrincipals, list, change, remove };
}
