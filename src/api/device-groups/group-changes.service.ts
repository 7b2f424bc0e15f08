import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { issueCertificate, revokeCertificate, rotateCertificate } from '../devices/certificates.service.ts';
import type { CertificateBundle } from '../devices/devices.model.ts';
import { onboardDevice } from '../devices/onboarding.service.ts';
import { makeRowCaller, explainFailure, ROWS_AT_ONCE } from '../devices/rows.service.ts';
import { runEach } from '../../waiting.ts';
import type {
  GroupCertification,
  GroupCredentialsAnswer,
  GroupOnboardAnswer,
  GroupOnboarding,
  GroupRevokeAnswer,
  GroupSelection,
} from './device-groups.model.ts';
import { listMembers, type MemberRow } from './device-groups.queries.ts';

const MOST = 100;
const MOST_NAMED = 20;

interface Selected {
  deviceId: string;
  member: MemberRow | undefined;
}

async function select(ctx: Context, caller: Caller, groupId: string, { deviceIds }: GroupSelection): Promise<Selected[]> {
  const members = new Map((await listMembers(ctx.db, caller.userId, groupId)).map((member) => [member.deviceId, member]));
  const wanted = deviceIds === undefined ? [...members.keys()] : [...new Set(deviceIds.map((id) => id.toLowerCase()))];
  if (wanted.length > MOST) throw errors.tooManySelected(MOST);
  return wanted.map((deviceId) => ({ deviceId, member: members.get(deviceId) }));
}

/**
 * Does `work` for every selected device that the caller may manage, several at once. A device that fails says why in its row, and does not hold back the
 * others.
 */
async function each<R>(ctx: Context, selected: readonly Selected[], work: (deviceId: string) => Promise<R>) {
  return runEach(selected, ROWS_AT_ONCE, async ({ deviceId, member }) => {
    const thingName = member?.isReadable === true ? member.thingName : null;
    if (!member) return { deviceId, thingName, result: null, error: 'This device is not a member of this group.' };
    if (!member.isManageable) return { deviceId, thingName, result: null, error: 'You may not manage this device.' };
    try {
      return { deviceId, thingName, result: await work(deviceId), error: null };
    } catch (error) {
      return { deviceId, thingName, result: null, error: explainFailure(ctx, error) };
    }
  });
}

export async function onboardGroup(ctx: Context, caller: Caller, groupId: string, body: GroupOnboarding): Promise<GroupOnboardAnswer> {
  const rows = await each(ctx, await select(ctx, caller, groupId, body), (deviceId) =>
    onboardDevice(ctx, makeRowCaller(caller), deviceId, body),
  );
  return { devices: rows.map(({ deviceId, result, error }) => ({ deviceId, config: result, error })) };
}

/** Keeps for an Idempotency-Key which certificates were made; the answer itself holds secrets. */
async function keepMade(ctx: Context, caller: Caller, bundles: readonly (CertificateBundle | undefined)[]): Promise<void> {
  const certificateIds = bundles.flatMap((bundle) => bundle?.certificateId ?? []);
  if (certificateIds.length === 0) return;
  const named = certificateIds.slice(0, MOST_NAMED).join(', ');
  const rest = certificateIds.length - MOST_NAMED;
  const made = `certificates of ${certificateIds.length} devices of this group, ${named}${rest > 0 ? ` and ${rest} more` : ''}`;
  await ctx.db.transaction((tx) => caller.created(tx, null, { made }));
}

const requestsOf = ({ csrs }: GroupCertification): ReadonlyMap<string, string> =>
  new Map((csrs ?? []).map(({ deviceId, csr }) => [deviceId.toLowerCase(), csr]));

export async function issueForGroup(
  ctx: Context,
  caller: Caller,
  groupId: string,
  body: GroupCertification,
): Promise<GroupCredentialsAnswer> {
  const csrs = requestsOf(body);
  const selected = await select(ctx, caller, groupId, body);
  const rows = await each(ctx, selected, (deviceId) => issueCertificate(ctx, makeRowCaller(caller), deviceId, csrs.get(deviceId)));
  const bundles = rows.map(({ result }) => result ?? undefined);
  await keepMade(ctx, caller, bundles);
  return { devices: rows.map(({ deviceId, thingName, result, error }) => ({ deviceId, thingName, credentials: result, error })) };
}

/** Rotates the certificates of devices of a group. `retire` ends the old certificates, and must be called once the answer has been sent. */
export async function rotateForGroup(
  ctx: Context,
  caller: Caller,
  groupId: string,
  body: GroupCertification,
): Promise<{ answer: GroupCredentialsAnswer; retire: () => Promise<void> }> {
  const csrs = requestsOf(body);
  const selected = await select(ctx, caller, groupId, body);
  const rows = await each(ctx, selected, (deviceId) => rotateCertificate(ctx, makeRowCaller(caller), deviceId, csrs.get(deviceId)));
  const bundles = rows.map(({ result }) => result?.bundle);
  await keepMade(ctx, caller, bundles);
  return {
    answer: {
      devices: rows.map(({ deviceId, thingName, result, error }) => ({ deviceId, thingName, credentials: result?.bundle ?? null, error })),
    },
    retire: async () => {
      await runEach(rows, ROWS_AT_ONCE, async ({ result }) => result?.retire());
    },
  };
}

export async function revokeForGroup(ctx: Context, caller: Caller, groupId: string, body: GroupSelection): Promise<GroupRevokeAnswer> {
  const rows = await each(ctx, await select(ctx, caller, groupId, body), (deviceId) => revokeCertificate(ctx, caller, deviceId));
  return { devices: rows.map(({ deviceId, error }) => ({ deviceId, error })) };
}
