import { createApiKey, revokeKey } from '../../src/api/credentials/credentials.service.ts';
import type { Action, ResourceType } from '../../src/authorization/roles.ts';
import { RESOURCE_TYPES } from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import { grant, makePerson } from './cast.ts';
import { guardsOf, type OperationRow } from './operations.ts';
import { makeOrganization, makeResource } from './resources.ts';
import type { TestServer } from './server.ts';

/** Twelve callers and what each may do with the private resources of one organization. */
const LOOKS: readonly Action[] = ['read'];
const TAKES_PART: readonly Action[] = ['read', 'contribute'];
const ALL: readonly Action[] = ['read', 'contribute', 'update', 'share', 'manage'];
const NOTHING: readonly Action[] = [];
const NOBODY = 'not signed in';

export const CALLERS = {
  anonymous: NOBODY,
  'revoked key': NOBODY,
  "deleted user's key": NOBODY,
  stranger: 'nothing',
  'ex-member': 'nothing',
  "other tenant's admin": 'nothing',
  member: 'looks',
  viewer: 'looks',
  'team viewer': 'looks',
  'organization grantee': 'looks',
  admin: 'all',
  owner: 'all',
} as const;
export type CallerName = keyof typeof CALLERS;

export function mayDo(caller: CallerName, type: ResourceType, action: Action): boolean {
  const rights = { nothing: NOTHING, looks: type === 'experiment' ? TAKES_PART : LOOKS, all: ALL, [NOBODY]: NOTHING }[CALLERS[caller]];
  return rights.includes(action);
}

export interface Matrix {
  keys: Record<CallerName, string | null>;
  resources: Record<ResourceType, string>;
  baseUrl: string;
}

/** Makes the callers and one private resource of each type. */
export async function makeMatrix(site: TestServer): Promise<Matrix> {
  const { db } = site;
  const person = (name: string) => makePerson(db, `matrix-${name}`);
  const [owner, admin, member, ex] = [await person('owner'), await person('admin'), await person('member'), await person('ex')];
  const [stranger, viewer, teammate, grantee] = [
    await person('stranger'),
    await person('viewer'),
    await person('team'),
    await person('org'),
  ];
  const [tenant, gone] = [await person('tenant'), await person('gone')];
  const lab = await makeOrganization(db, {
    name: 'Matrix Lab',
    slug: 'matrix-lab',
    members: { [owner.id]: 'owner', [admin.id]: 'admin', [member.id]: 'member', [ex.id]: 'admin' },
  });
  const partners = await makeOrganization(db, {
    name: 'Partners',
    slug: 'matrix-partners',
    members: { [teammate.id]: 'member', [tenant.id]: 'admin' },
  });
  const guests = await makeOrganization(db, { name: 'Guests', slug: 'matrix-guests', members: { [grantee.id]: 'member' } });
  const team = crypto.randomUUID();
  await db.run(sql('t')`insert into teams (id, organization_id, name) values (${team}, ${partners}, 'T')`);
  await db.run(
    sql(
      't',
    )`insert into team_members (id, team_id, organization_id, user_id) values (gen_random_uuid(), ${team}, ${partners}, ${teammate.id})`,
  );
  const resources = {} as Record<ResourceType, string>;
  for (const type of RESOURCE_TYPES) {
    const resource = await makeResource(db, type, { organizationId: lab, createdBy: owner.id });
    for (const who of [{ user: viewer.id }, { team }, { organization: guests }]) await grant(db, resource, who, 'viewer');
    resources[type] = resource.id;
  }
  await db.run(sql('t')`delete from organization_members where organization_id = ${lab} and user_id = ${ex.id}`);
  const revoked = await createApiKey(db, { userId: owner.id, name: 'revoked' });
  await revokeKey(db, revoked.key);
  const closed = await site.as(gone)('DELETE', `/api/v1/users/${gone.id}`);
  if (closed.status !== 200) throw new Error(closed.text);
  return {
    baseUrl: site.server.baseUrl,
    resources,
    keys: {
      anonymous: null,
      'revoked key': revoked.key,
      "deleted user's key": gone.apiKey,
      stranger: stranger.apiKey,
      'ex-member': ex.apiKey,
      "other tenant's admin": tenant.apiKey,
      member: member.apiKey,
      viewer: viewer.apiKey,
      'team viewer': teammate.apiKey,
      'organization grantee': grantee.apiKey,
      admin: admin.apiKey,
      owner: owner.apiKey,
    },
  };
}

const OWN_ID: Record<ResourceType, string> = {
  experiment: 'id',
  protocol: 'id',
  macro: 'id',
  workbook: 'id',
  device: 'deviceId',
  device_group: 'groupId',
};

/** A write carries a body that cannot be parsed: who is let through gets 400, and nothing is changed. */
async function probe(matrix: Matrix, caller: CallerName, method: string, path: string): Promise<{ status: number; code: string }> {
  const key = matrix.keys[caller];
  const response = await fetch(`${matrix.baseUrl}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(key === null ? {} : { 'x-api-key': key }), ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    ...(method === 'GET' ? {} : { body: '{' }),
  });
  // a stream of events has no end
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  if (isStream) await response.body?.cancel();
  return { status: response.status, code: /"code":"(\w+)"/.exec(text)?.[1] ?? '' };
}

export interface Cell {
  operation: string;
  type: string;
  caller: CallerName;
  status: number;
  code: string;
  expected: string;
}

interface Expected {
  text: string;
  fits(status: number, code: string): boolean;
}

function expectedOf(row: OperationRow, caller: CallerName, guard: { type: ResourceType; action: Action } | undefined): Expected {
  const isNobody = CALLERS[caller] === NOBODY;
  if (row.asks === 'public')
    return { text: 'not 401', fits: (status: number) => status !== 401 || !isNobody || row.path.startsWith('/api/v1/auth/') };
  if (row.asks === 'webhookSignature') return { text: '401', fits: (status: number) => status === 401 };
  if (isNobody) return { text: '401', fits: (status: number) => status === 401 };
  if (row.asks === 'session')
    return { text: '401 API_KEY_NOT_ACCEPTED', fits: (status: number, code: string) => status === 401 && code === 'API_KEY_NOT_ACCEPTED' };
  if (!guard) return { text: 'let in', fits: (status: number) => status !== 401 && status < 500 };
  if (mayDo(caller, guard.type, guard.action))
    return { text: 'allowed', fits: (status: number) => ![401, 403].includes(status) && status < 500 };
  return { text: '403', fits: (status: number) => status === 403 };
}

/** Asks one operation as all twelve callers, for every type that it is about, and about what is not there; answers the number of cells and those that are wrong. */
export async function probeOperation(matrix: Matrix, row: OperationRow): Promise<{ cells: number; wrong: Cell[] }> {
  const guards = guardsOf(row);
  const wrong: Cell[] = [];
  let cells = 0;
  for (const guard of guards.length === 0 ? [undefined] : guards) {
    const type = guard?.type ?? 'experiment';
    const about = (id: string) =>
      row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
        if (name === 'resourceType') return type;
        if (guard ? name === (row.asks.startsWith('resource:') ? 'id' : OWN_ID[type]) : name === 'id') return id;
        return /Id$/.test(name) ? crypto.randomUUID() : 'ambyte';
      });
    const path = about(matrix.resources[type]);
    if (guard) {
      const { status, code } = await probe(matrix, 'owner', row.method, about(crypto.randomUUID()));
      cells += 1;
      if (status !== 404)
        wrong.push({ operation: `${row.method} ${row.path}`, type, caller: 'owner', status, code, expected: '404: there is none' });
    }
    for (const caller of Object.keys(CALLERS) as CallerName[]) {
      const expected = expectedOf(row, caller, guard);
      const { status, code } = await probe(matrix, caller, row.method, path);
      cells += 1;
      if (!expected.fits(status, code))
        wrong.push({ operation: `${row.method} ${row.path}`, type, caller, status, code, expected: expected.text });
    }
  }
  return { cells, wrong };
}
