import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decide } from '../../src/authorization/access.ts';
import {
  ACTIONS,
  grantRoleActions,
  organizationRoleActions,
  RESOURCE_TYPES,
  type Action,
  type ResourceType,
} from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { accessCases, type AccessCase } from '../support/operations.ts';
import { makeOrganization, makeResource } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

let made = 0;

/** Brings about what a case describes, with a person of its own. */
async function bring({ given }: AccessCase, type: ResourceType): Promise<{ person: Person; id: string }> {
  const { db } = site.server.context;
  const slug = `case-${(made += 1)}`;
  const person = await makePerson(db, slug);
  const owners: Record<string, string> = given.husk ? {} : { [site.cast.owner.id]: 'owner' };
  const organizationId = await makeOrganization(db, {
    name: slug,
    slug,
    members: { ...owners, ...(given.membership === undefined ? {} : { [person.id]: given.membership }) },
  });
  const createdBy = given.author ? person.id : site.cast.owner.id;
  const publicFrom = given.publicFrom && new Date(Date.now() + (given.publicFrom === 'past' ? -60_000 : 86_400_000));
  const visible = given.visibility === undefined ? {} : { visibility: given.visibility };
  const resource = await makeResource(db, type, { organizationId, createdBy, ...visible, ...(publicFrom ? { publicFrom } : {}) });
  if (given.grant !== undefined) await grant(db, resource, { user: person.id }, given.grant);
  if (given.elsewhere) await grant(db, await makeResource(db, type, { organizationId, createdBy }), { user: person.id }, 'admin');
  const other = (suffix: string, members: Record<string, string>) =>
    makeOrganization(db, { name: slug, slug: `${slug}-${suffix}`, members: { [site.cast.admin.id]: 'owner', ...members } });
  const team = async (suffix: string, role: string, isIn: boolean) => {
    const home = await other(suffix, { [person.id]: 'member' });
    const id = crypto.randomUUID();
    await db.run(sql('t')`insert into teams (id, organization_id, name) values (${id}, ${home}, 'T')`);
    if (isIn)
      await db.run(
        sql('t')`insert into team_members (id, team_id, organization_id, user_id) values (gen_random_uuid(), ${id}, ${home}, ${person.id})`,
      );
    await grant(db, resource, { team: id }, role);
  };
  if (given.team !== undefined) await team('team', given.team, true);
  if (given.outsideTeam !== undefined) await team('outside', given.outsideTeam, false);
  if (given.organization !== undefined)
    await grant(db, resource, { organization: await other('partner', { [person.id]: given.as ?? 'member' }) }, given.organization);
  if (given.outsideOrganization !== undefined)
    await grant(db, resource, { organization: await other('foreign', {}) }, given.outsideOrganization);
  return { person, id: given.missing ? crypto.randomUUID() : resource.id };
}

function answerOf({ answer }: AccessCase, type: ResourceType, action: Action): string {
  if (typeof answer === 'string') return answer;
  if (answer.all !== undefined) return answer.all;
  const looking = action === 'read' || (action === 'contribute' && type === 'experiment');
  if (answer.read !== undefined && action === 'read') return answer.read;
  return (looking ? answer.member : answer.rest) ?? 'no';
}

const PLURAL: Record<ResourceType, string> = {
  experiment: '/api/v1/experiments/{id}',
  protocol: '/api/v1/protocols/{id}',
  macro: '/api/v1/macros/{id}',
  workbook: '/api/v1/workbooks/{id}',
  device: '/api/v1/devices/{deviceId}',
  device_group: '/api/v1/device-groups/{groupId}',
};

/** A call that is guarded by this action alone; a write carries a body that cannot be parsed, so that it changes nothing. */
function probeOf(type: ResourceType, action: Action, id: string): { method: string; path: string } | null {
  const served = (method: string, template: string) =>
    method.toLowerCase() in (site.server.context.openapi.paths[template] ?? {}) ? { method, path: template.replace(/\{\w+\}/, id) } : null;
  if (action === 'share') return { method: 'GET', path: `/api/v1/${type}/${id}/collaborators` };
  if (action === 'manage') return { method: 'POST', path: `/api/v1/${type}/${id}/transfer` };
  if (action === 'contribute') return type === 'experiment' ? served('GET', '/api/v1/experiments/{id}/data/uploads') : null;
  if (action === 'update') return served(type === 'macro' ? 'PUT' : 'PATCH', PLURAL[type]);
  return served('GET', PLURAL[type]);
}

const probing = accessCases.flatMap((each) => (each.types ?? RESOURCE_TYPES).map((type) => ({ each, type, name: each.name })));

test('there are 300 cases or more', () => {
  expect(probing.length * ACTIONS.length).toBeGreaterThanOrEqual(300);
});

test.each(probing)('$type: $name, by SQL and over HTTP', async ({ each, type }) => {
  const { person, id } = await bring(each, type);
  for (const action of ACTIONS) {
    const expected = answerOf(each, type, action);
    const decision = await decide(site.server.context.db, person.id, type, id, action);
    expect([action, decision.allow ? decision.reason : decision.reason === 'not-found' ? 'missing' : 'no']).toEqual([action, expected]);
    const probe = probeOf(type, action, id);
    if (!probe) continue;
    const body = probe.method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'application/json' } };
    const { status } = await site.as(person)(probe.method, probe.path, body);
    // the type's own row does not exist here, so that what is let in may find nothing to show
    const letIn = probe.method === 'GET' ? [200, 404] : [400];
    const fits = expected === 'missing' ? [404] : expected === 'no' ? [403] : letIn;
    expect(fits, `${action} ${probe.method} ${probe.path}`).toContain(status);
  }
});

test('the pure matrix and the generated columns read every role string alike', async () => {
  const seed = process.env['FC_SEED'] === undefined ? undefined : Number(process.env['FC_SEED']);
  const odd = fc.constantFrom(
    ' ',
    '\t',
    '\n',
    '\v',
    '\f',
    '\r',
    '\u00a0',
    '\u1680',
    '\u2000',
    '\u200a',
    '\u200b',
    '\u2028',
    '\u2029',
    '\u202f',
    '\u205f',
    '\u3000',
    '\ufeff',
    '\u0085',
    '\u180e',
  );
  const part = fc.oneof(
    fc.constantFrom('owner', 'admin', 'member', 'viewer', 'Owner', 'own', ',', ',,'),
    odd,
    fc.string({ maxLength: 3 }).map((text) => text.replaceAll('\u0000', '')),
  );
  const role = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(role, { minLength: 50, maxLength: 50 }), async (roles) => {
      const rows = await site.server.context.db.rows<{
        isOwner: boolean;
        isAdmin: boolean;
        isMember: boolean;
        all: boolean;
        read: boolean;
      }>(sql('t')`
        select 'owner' = any (role_tokens(role_trimmed(role))) as "isOwner", role_tokens(role_trimmed(role)) && array['owner', 'admin'] as "isAdmin",
          role_tokens(role_trimmed(role)) && array['owner', 'admin', 'member'] as "isMember",
          role in ('owner', 'admin') as "all", role in ('owner', 'admin', 'viewer') as "read"
        from unnest(${roles}::text[]) with ordinality as given (role, position) order by position`);
      for (const [index, given] of roles.entries()) {
        const row = rows[index]!;
        for (const type of RESOURCE_TYPES) {
          const actions = organizationRoleActions(given, type);
          expect([given, actions.has('manage'), actions.has('read'), actions.has('contribute')]).toEqual([
            given,
            row.isAdmin,
            row.isMember,
            row.isAdmin || (row.isMember && type === 'experiment'),
          ]);
          const granted = grantRoleActions(given, type);
          expect([given, granted.has('manage'), granted.has('read')]).toEqual([given, row.all, row.read]);
        }
      }
    }),
    { numRuns: 40, ...(seed === undefined ? {} : { seed }) },
  );
});
