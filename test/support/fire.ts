import { sql } from '../../src/database/sql.ts';
import type { Database } from '../../src/database/database.ts';
import { signIn, type Browser } from './browser.ts';
import { makePerson, type Person } from './cast.ts';
import { makeOrganization, makeResource } from './resources.ts';
import { RESOURCE_TYPES, TRANSFERABLE, type ResourceType } from '../../src/authorization/roles.ts';
import type { TestServer } from './server.ts';

/** A generator of numbers in [0, 1) that a seed repeats. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Player {
  person: Person;
  browser: Browser;
}

interface Scene {
  players: Player[];
  resources: { type: ResourceType; id: string }[];
  organizations: string[];
}

export async function makeScene(site: TestServer, people: number): Promise<Scene> {
  const { db } = site.server.context;
  const players: Player[] = [];
  for (let index = 0; index < people; index += 1) {
    const person = await makePerson(db, `player${index}`);
    players.push({ person, browser: await signIn(site, `player${index}@example.com`) });
  }
  const scene: Scene = { players, resources: [], organizations: [] };
  for (let index = 0; index < 4; index += 1) {
    const members = Object.fromEntries(
      players.slice(index * 2, index * 2 + 5).map(({ person }, at) => [person.id, ['owner', 'admin', 'member'][at] ?? 'member']),
    );
    const id = await makeOrganization(db, { name: `O${index}`, slug: `fire-${index}`, visibility: 'public', members });
    scene.organizations.push(id);
    await db.run(sql('t')`insert into teams (id, organization_id, name) values (gen_random_uuid(), ${id}, 'T')`);
    for (const type of RESOURCE_TYPES)
      scene.resources.push(await makeResource(db, type, { organizationId: id, createdBy: players[index * 2]!.person.id }));
  }
  for (const { person } of players)
    scene.resources.push(
      await makeResource(db, 'experiment', { organizationId: person.workspaceId, createdBy: person.id, visibility: 'public' }),
    );
  return scene;
}

/** One random act of a random person; answers its status, or null when there was nothing to act on. */
async function act(db: Database, scene: Scene, roll: () => number, baseUrls: readonly string[]): Promise<number | null> {
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(roll() * list.length)];
  const who = one(scene.players)!;
  const other = one(scene.players)!.person;
  const resource = one(scene.resources)!;
  const organizationId = one(scene.organizations)!;
  const base = one(baseUrls)!;
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const session = path.startsWith('/api/v1/auth/');
    const send = session ? who.browser.fetch : fetch;
    const response = await send(`${base}${path}`, {
      method,
      headers: {
        ...(session ? {} : { 'x-api-key': who.person.apiKey }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const shared = `/api/v1/${resource.type}/${resource.id}`;
  const manage = (verb: string, body: object) => call('POST', `/api/v1/auth/organization/${verb}`, body);
  const kind = Math.floor(roll() * 16);
  switch (kind) {
    case 0:
    case 1:
      return call('POST', `${shared}/collaborators`, { granteeType: 'user', granteeId: other.id, role: one(['viewer', 'admin', 'owner']) });
    case 2: {
      const team = await db.one<{ id: string }>(sql('t')`select id from teams order by random() limit 1`);
      return team ? call('POST', `${shared}/collaborators`, { granteeType: 'team', granteeId: team.id, role: 'admin' }) : null;
    }
    case 3:
      return call('POST', `${shared}/collaborators`, { granteeType: 'organization', granteeId: organizationId, role: 'viewer' });
    case 4:
    case 5: {
      const held = await db.one<{ id: string }>(
        sql('t')`select id from grants where resource_id = ${resource.id} order by random() limit 1`,
      );
      if (!held) return null;
      return kind === 4
        ? call('DELETE', `${shared}/collaborators/${held.id}`)
        : call('PATCH', `${shared}/collaborators/${held.id}`, { role: one(['viewer', 'admin']) });
    }
    case 6:
      return call('DELETE', `${shared}/collaborators/me`);
    case 7:
      return TRANSFERABLE[resource.type]
        ? call('POST', `${shared}/transfer`, { targetOrganizationId: one([organizationId, who.person.workspaceId]) })
        : null;
    case 8:
      return manage('leave', { organizationId });
    case 9:
      return manage('add-member', { organizationId, userId: other.id, role: one(['member', 'admin', 'owner']) });
    case 10:
    case 11: {
      const member = await db.one<{ id: string }>(
        sql('t')`select id from organization_members where organization_id = ${organizationId} order by random() limit 1`,
      );
      if (!member) return null;
      return kind === 10
        ? manage('remove-member', { organizationId, memberIdOrEmail: member.id })
        : manage('update-member-role', { organizationId, memberId: member.id, role: one(['member', 'admin', 'owner']) });
    }
    case 12:
      return roll() < 0.3
        ? call('DELETE', `/api/v1/users/${who.person.id}`)
        : call('POST', `/api/v1/organizations/${organizationId}/join-requests`, {});
    case 13: {
      const request = await db.one<{ id: string }>(
        sql('t')`select id from organization_join_requests where organization_id = ${organizationId} and status = 'pending' limit 1`,
      );
      return request ? call('PATCH', `/api/v1/organizations/${organizationId}/join-requests/${request.id}`, { decision: 'approve' }) : null;
    }
    case 14: {
      if (roll() < 0.2) return manage('delete', { organizationId });
      const offer = await db.one<{ id: string }>(sql('t')`
        select i.id from organization_invitations i join users u on u.email = i.email where u.id = ${who.person.id} and i.status = 'pending' limit 1`);
      return offer ? manage('accept-invitation', { invitationId: offer.id }) : manage('create-team', { organizationId, name: 'N' });
    }
    default:
      if (roll() < 0.3)
        return call('POST', '/api/v1/collaborators/transfer-admin', {
          transfers: [{ resourceType: resource.type, resourceId: resource.id, targetUserId: other.id }],
        });
      return manage('invite-member', {
        organizationId,
        email: `player${Math.floor(roll() * scene.players.length)}@example.com`,
        role: one(['member', 'admin']),
      });
  }
}

/** Many acts at once. Answers how often each status came; a failure to connect counts as 0. */
export async function fire(
  db: Database,
  scene: Scene,
  { seed, acts, lanes, baseUrls }: { seed: number; acts: number; lanes: number; baseUrls: readonly string[] },
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let left = acts;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const roll = random(seed + lane);
      while (left-- > 0) {
        const status = await act(db, scene, roll, baseUrls).catch(() => 0);
        if (status !== null) statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  return statuses;
}
