/** Refusals that no other test meets: what would be too much, too late, or not the caller's to change. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transfer } from '../../src/api/sharing/transfer.service.ts';
import type { Caller } from '../../src/auth/caller.ts';
import { sql } from '../../src/database/sql.ts';
import { errors } from '../../src/errors.ts';
import { signIn, type Browser } from '../support/browser.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const makeExperiment = async (body: object = {}) =>
  (await owner('POST', '/api/v1/experiments', { body: { name: 'Refusing', organizationId: site.cast.leafLab, ...body } })).body
    .id as string;
/** Does something many times, a few at once, and answers the statuses. */
async function repeat(times: number, act: (at: number) => Promise<{ status: number }>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let at = 0; at < times; at += 10)
    for (const { status } of await Promise.all(Array.from({ length: Math.min(10, times - at) }, (_, of) => act(at + of))))
      statuses.add(status);
  return statuses;
}

test('an Idempotency-Key holds 1 to 255 characters', async () => {
  const make = (key: string) => owner('POST', '/api/v1/experiments', { body: { name: 'Keyed' }, headers: { 'idempotency-key': key } });
  expect((await make('k'.repeat(255))).status).toBe(201);
  expect(await make('k'.repeat(256))).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_INVALID' } });
  expect(await make('k\xfc')).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_INVALID' } });
});

test('an embargo is taken away from a private experiment only', async () => {
  const id = await makeExperiment({ embargoUntil: new Date(Date.now() + 9e8) });
  const change = () => owner('PATCH', `/api/v1/experiments/${id}`, { body: { embargoUntil: null } });
  expect(await change()).toMatchObject({ status: 200, body: { embargoUntil: null } });
  await site.db.run(sql('test')`update resources set visibility = 'public' where id = ${id}`);
  expect(await change()).toMatchObject({ status: 409, body: { code: 'EMBARGO_NOT_EDITABLE' } });
});

test('an experiment holds 100 metadata tables', async () => {
  const id = await makeExperiment();
  const plots = { columns: [{ id: 'c', name: 'plot', type: 'string' }], rows: [{ _id: '1', c: 'P1' }], identifierColumnId: 'c' };
  const add = (name: string) =>
    owner('POST', `/api/v1/experiments/${id}/metadata`, { body: { metadata: { ...plots, name, experimentQuestionId: 'plot' } } });
  expect(await repeat(100, (at) => add(`Plots ${at}`))).toEqual(new Set([201]));
  expect(await add('One more')).toMatchObject({ status: 409, body: { code: 'METADATA_FULL' } });
});

test('100 invitations to a resource wait at most', async () => {
  const id = await makeExperiment();
  const invite = (name: string) =>
    owner('POST', '/api/v1/invitations', { body: { email: `${name}@refused.example`, resourceType: 'experiment', resourceId: id } });
  expect((await invite('first')).status).toBe(201);
  await site.db.run(sql('test')`
    insert into invitations (id, resource_type, resource_id, email, tier, invited_by, expires_at)
    select gen_random_uuid(), resource_type, resource_id, 'other' || n || '@refused.example', tier, invited_by, expires_at
    from invitations, generate_series(1, 99) n where resource_id = ${id}`);
  expect(await invite('last')).toMatchObject({ status: 409, body: { code: 'TOO_MANY_INVITATIONS' } });
});

test('100 projects that have not come are asked for at most, also at once', async () => {
  const person = await makePerson(site.db, 'wishful');
  const ask = (projectIdOld: string) =>
    site.as(person)('POST', '/api/v1/transfer-requests', { body: { projectIdOld, projectUrlOld: 'https://old.example/7' } });
  expect((await ask('0')).status).toBe(201);
  await site.db.run(sql('test')`
    insert into project_transfer_requests (id, user_id, user_email, source_platform, project_id_old, project_url_old)
    select gen_random_uuid(), user_id, user_email, source_platform, n::text, project_url_old
    from project_transfer_requests, generate_series(1, 96) n where user_id = ${person.id}`);
  const asked = await Promise.all(Array.from({ length: 9 }, (_ask, at) => ask(`at once ${at}`)));
  expect(asked.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const { status, body } of asked) if (status !== 201) expect([status, body.code]).toEqual([409, 'TOO_MANY_TRANSFER_REQUESTS']);
  expect(await ask('0'), 'says what is nearer').toMatchObject({ status: 409, body: { code: 'TRANSFER_ALREADY_REQUESTED' } });
});

test('whoever has no address is written to by nobody', async () => {
  const person = await makePerson(site.db, 'addressless');
  const call = site.as(person);
  const ask = () => call('POST', '/api/v1/transfer-requests', { body: { projectIdOld: '7', projectUrlOld: 'https://old.example/7' } });
  expect((await call('GET', '/api/v1/newsletter/status')).status).toBe(200);
  await site.db.run(sql('test')`update users set email = null where id = ${person.id}`);
  expect(await call('GET', '/api/v1/newsletter/status')).toMatchObject({ status: 400, body: { code: 'NO_ADDRESS' } });
  expect(await ask()).toMatchObject({ status: 400, body: { code: 'NO_ADDRESS' } });
  await site.db.run(sql('test')`update users set email = 'addressed@example.com' where id = ${person.id}`);
  expect((await ask()).status).toBe(201);
});

test('a thing that moved meanwhile is not moved again', async () => {
  const { owner: person, leafLab } = site.cast;
  const asked = {
    type: 'macro',
    id: (await makeResource(site.db, 'macro', { organizationId: leafLab, createdBy: person.id })).id,
  } as const;
  const caller: Caller = {
    userId: person.id,
    via: { kind: 'key', keyId: randomUUID() },
    requestId: 'moving',
    organizationId: null,
    created: async (_tx, answer) => answer,
  };
  const move = async (sourceId: string) => transfer(await site.context(), caller, asked, { sourceId, targetId: person.workspaceId });
  await expect(move(randomUUID())).rejects.toMatchObject({ status: 409, code: 'RESOURCE_MOVED' });
  expect(await move(leafLab)).toMatchObject({ organizationId: person.workspaceId });
});

test('only what keeps the own account from being deleted is handed over, by who may share it', async () => {
  const [giver, taker] = [await makePerson(site.db, 'giver'), await makePerson(site.db, 'taker')];
  const lab = await makeOrganization(site.db, {
    name: 'Handing',
    slug: 'handing-lab',
    members: { [giver.id]: 'admin', [taker.id]: 'member', [site.cast.owner.id]: 'owner' },
  });
  const staffed = await makeResource(site.db, 'experiment', { organizationId: lab, createdBy: giver.id });
  const blocking = await makeResource(site.db, 'experiment', { organizationId: giver.workspaceId, createdBy: giver.id });
  const foreign = await makeResource(site.db, 'experiment', { organizationId: site.cast.leafLab, createdBy: site.cast.owner.id });
  for (const { id, type } of [staffed, blocking]) await grant(site.db, { id, type }, { user: giver.id }, 'owner');
  await grant(site.db, blocking, { user: taker.id }, 'viewer');
  const hand = async ({ id }: { id: string }) => {
    const transfers = [{ resourceType: 'experiment', resourceId: id, targetUserId: taker.id }];
    return (await site.as(giver)('POST', '/api/v1/collaborators/transfer-admin', { body: { transfers } })).body.results[0];
  };
  expect(await hand(staffed)).toMatchObject({ success: false, error: errors.handoverNotBlocking().message });
  expect(await hand(foreign)).toMatchObject({ success: false, error: errors.handoverRefused().message });
  expect(await hand({ id: randomUUID() })).toMatchObject({ success: false, error: errors.handoverRefused().message });
  expect(await hand(blocking)).toMatchObject({ success: true });
});

describe('devices', () => {
  let serials = 0;
  const makeDevice = async () =>
    (
      await owner('POST', '/api/v1/devices', {
        body: { serialNumber: `REFUSED-${(serials += 1)}`, deviceType: 'ambyte', organizationId: site.cast.leafLab },
      })
    ).body.id as string;

  test('100 devices of a group are changed at once, at most', async () => {
    const { id } = (await owner('POST', '/api/v1/device-groups', { body: { name: 'Many', organizationId: site.cast.leafLab } })).body;
    const first = await makeDevice();
    await owner('POST', `/api/v1/device-groups/${id}/devices`, { body: { deviceIds: [first] } });
    const revoke = () => owner('POST', `/api/v1/device-groups/${id}/credentials/revoke`, { body: {} });
    expect((await revoke()).status).toBe(200);
    const more: string[] = [];
    expect(
      await repeat(100, async () => {
        more.push(await makeDevice());
        return { status: 201 };
      }),
    ).toEqual(new Set([201]));
    expect((await owner('POST', `/api/v1/device-groups/${id}/devices`, { body: { deviceIds: more } })).status).toBe(200);
    expect(await revoke()).toMatchObject({ status: 400, body: { code: 'TOO_MANY_SELECTED' } });
  });

  test('one change of a device waits ten seconds for another', async () => {
    const id = await makeDevice();
    const certify = () => owner('POST', `/api/v1/devices/${id}/credentials`, { body: {} });
    await site.db.transaction(async (tx) => {
      await tx.run(sql('test')`select pg_advisory_xact_lock(hashtextextended(${`device ${id}`}, 50))`);
      const refused = await certify();
      expect(refused).toMatchObject({ status: 409, body: { code: 'DEVICE_BUSY' } });
      expect(refused.headers.get('retry-after')).toBe('2');
    });
    expect((await certify()).status).toBe(201);
  });
});

test('a sheet holds 1,048,575 rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-sheet-'));
  const engine = await DuckDBInstance.create(':memory:');
  try {
    const file = join(folder, 'many.parquet');
    await (await engine.connect()).run(`copy (select range as n from range(1048576)) to '${file}'`);
    const under = `/api/v1/experiments/${await makeExperiment()}/data`;
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'parquet', targetKind: 'new', targetName: 'many' }))
      form.append(field, value);
    form.append('files', await openAsBlob(file), 'many.parquet');
    const ended = async (path: string): Promise<any> => {
      for (;;) {
        const { body } = await owner('GET', path);
        if (!['pending', 'queued', 'running'].includes(body.status)) return body;
        await sleep(100);
      }
    };
    const { uploadId } = (await owner('POST', `${under}/uploads`, { body: form })).body;
    const { status, uploadTableId: tableName } = await ended(`${under}/uploads/${uploadId}`);
    expect(status).toBe('completed');
    const write = async (body: object) => {
      const made = await owner('POST', `${under}/exports`, { body: { tableName, format: 'xlsx', ...body } });
      return ended(`${under}/exports/${made.body.exportId}/status`);
    };
    expect(await write({ filters: [{ column: 'n', operator: 'less_than', value: 10 }] })).toMatchObject({
      status: 'completed',
      rowCount: 10,
    });
    expect(await write({})).toMatchObject({ status: 'failed', errorMessage: errors.sheetFull(1_048_576, 1_048_575).message });
  } finally {
    engine.closeSync();
    rmSync(folder, { recursive: true });
  }
});

describe('organizations', () => {
  const of = async (name: string): Promise<{ person: Person; browser: Browser }> => ({
    person: await makePerson(site.db, name),
    browser: await signIn(site, `${name}@example.com`),
  });
  const post = ({ browser }: { browser: Browser }, path: string, body: object) =>
    browser.call('POST', `/api/v1/auth/organization/${path}`, body);

  test('teams and invitations are changed by owners and admins', async () => {
    const [admin, member] = [await of('team-admin'), await of('team-member')];
    const organizationId = await makeOrganization(site.db, {
      name: 'Teams',
      slug: 'teams-lab',
      members: { [admin.person.id]: 'owner', [member.person.id]: 'member' },
    });
    const { id: teamId } = (await post(admin, 'create-team', { name: 'Diggers', organizationId })).body as { id: string };
    const invited = await post(admin, 'invite-member', { email: 'invited@refused.example', role: 'member', organizationId });
    const { id: invitationId } = invited.body as { id: string };
    const named = { teamId, userId: member.person.id, organizationId };
    for (const [path, body, code] of [
      ['update-team', { teamId, data: { name: 'Weeders', organizationId } }, 'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_TEAM'],
      ['add-team-member', named, 'YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_TEAM_MEMBER'],
      ['remove-team-member', named, 'YOU_ARE_NOT_ALLOWED_TO_REMOVE_A_TEAM_MEMBER'],
      ['cancel-invitation', { invitationId }, 'YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION'],
    ] as const) {
      expect(await post(member, path, body), path).toMatchObject({ status: 403, body: { code } });
      expect(await post(admin, path, body), path).toMatchObject({ status: 200 });
    }
  });

  test('an organization has 100 members at most', async () => {
    const admin = await of('crowded');
    const [last, late] = [await makePerson(site.db, 'last'), await makePerson(site.db, 'late')];
    const organizationId = await makeOrganization(site.db, { name: 'Crowd', slug: 'crowd', members: { [admin.person.id]: 'owner' } });
    await site.db.run(sql('test')`
      with made as (insert into users (id, email) select gen_random_uuid(), 'crowd' || n || '@example.com' from generate_series(1, 98) n returning id)
      insert into organization_members (id, organization_id, user_id, role) select gen_random_uuid(), ${organizationId}, id, 'member' from made`);
    const add = (userId: string) => post(admin, 'add-member', { organizationId, userId, role: 'member' });
    expect((await add(last.id)).status).toBe(200);
    expect(await add(late.id)).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_MEMBERSHIP_LIMIT_REACHED' } });
  });

  test('invitations are shown to who has proven their address', async () => {
    const { person, browser } = await of('unproven');
    const list = () => browser.call('GET', '/api/v1/auth/organization/list-user-invitations');
    expect((await list()).status).toBe(200);
    await site.db.run(sql('test')`update users set email_verified = false where id = ${person.id}`);
    expect(await list()).toMatchObject({ status: 403, body: { code: 'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION' } });
  });

  test('a change of a key says what is to change', async () => {
    const { browser } = await of('key-changer');
    const { id: keyId } = (await browser.call('POST', '/api/v1/auth/api-key/create', { name: 'Laptop' })).body as { id: string };
    const change = (body: object) => browser.call('POST', '/api/v1/auth/api-key/update', { keyId, ...body });
    expect(await change({ name: 'Desk' })).toMatchObject({ status: 200, body: { name: 'Desk' } });
    expect(await change({})).toMatchObject({ status: 400, body: { code: 'NO_VALUES_TO_UPDATE' } });
  });

  test('a person has so many keys that stand, and gets another for each that they revoke', async () => {
    const { person, browser } = await of('key-collector');
    const make = () => browser.call('POST', '/api/v1/auth/api-key/create', { name: 'Another' });
    const { id: keyId } = (await make()).body as { id: string };
    await site.db.run(sql('test')`
      insert into api_keys (id, user_id, name, hash, last_four, rate_limit)
      select gen_random_uuid(), ${person.id}, 'many', sha256(('many' || n)::bytea), 'aaaa', 100 from generate_series(1, 997) n`);
    expect((await make()).status).toBe(200);
    expect(await make()).toMatchObject({ status: 409, body: { code: 'TOO_MANY_API_KEYS' } });
    expect((await browser.call('POST', '/api/v1/auth/api-key/delete', { keyId })).status).toBe(200);
    expect((await make()).status).toBe(200);
  });
});
