import { startSession } from '../../src/auth/sessions.ts';
import { RESOURCE_TYPES, TRANSFERABLE, type ResourceType } from '../../src/authorization/roles.ts';
import type { Database } from '../../src/database/database.ts';
import { sql, type Query } from '../../src/database/sql.ts';
import { makePerson, type Person } from './cast.ts';
import { makeOrganization, makeResource } from './resources.ts';

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
  email: string;
  cookie: string;
}

export interface Scene {
  db: Database;
  players: Player[];
  resources: { type: ResourceType; id: string }[];
  organizations: string[];
  /** People, organizations and resources so far, those that are gone included. */
  made: { people: number; organizations: number; resources: number };
}

async function makePlayer(scene: Scene): Promise<Player> {
  const name = `player${(scene.made.people += 1)}`;
  const person = await makePerson(scene.db, name);
  const { token } = await startSession(scene.db, { userId: person.id, method: 'email', ipAddress: null, userAgent: null });
  scene.made.resources += 1;
  scene.resources.push(
    await makeResource(scene.db, 'experiment', { organizationId: person.workspaceId, createdBy: person.id, visibility: 'public' }),
  );
  return { person, email: `${name}@example.com`, cookie: `fieldlake.session_token=${token}` };
}

/** People, four public organizations of five members each, and one resource of every type in each of them. */
export async function makeScene(db: Database, people: number): Promise<Scene> {
  const scene: Scene = { db, players: [], resources: [], organizations: [], made: { people: 0, organizations: 0, resources: 0 } };
  while (scene.players.length < people) scene.players.push(await makePlayer(scene));
  for (let index = 0; index < 4; index += 1) {
    const members = Object.fromEntries(
      scene.players.slice(index * 2, index * 2 + 5).map(({ person }, at) => [person.id, ['owner', 'admin', 'member'][at] ?? 'member']),
    );
    const id = await makeOrganization(db, { name: `O${index}`, slug: `fire-${index}`, visibility: 'public', members });
    scene.organizations.push(id);
    await db.run(sql('t')`insert into teams (id, organization_id, name) values (gen_random_uuid(), ${id}, 'T')`);
    for (const type of RESOURCE_TYPES) {
      scene.made.resources += 1;
      scene.resources.push(await makeResource(db, type, { organizationId: id, createdBy: scene.players[index * 2]!.person.id }));
    }
  }
  return scene;
}

/** What one act is done with: people and things that a seed chose. */
interface Turn {
  scene: Scene;
  roll: () => number;
  one: <T>(list: readonly T[]) => T | undefined;
  /** Of the rows that a statement answers, one that the seed chose. */
  any: (query: Query) => Promise<{ id: string } | undefined>;
  seat: number;
  who: Player;
  other: Player;
  resource: { type: ResourceType; id: string };
  organizationId: string;
  call: (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;
}

type Act = (turn: Turn) => Promise<{ status: number } | null>;

const shared = ({ resource }: Turn) => `/api/v1/${resource.type}/${resource.id}`;
const manage = ({ call }: Turn, verb: string, body: object) => call('POST', `/api/v1/auth/organization/${verb}`, body);

const share = (turn: Turn, granteeType: string, granteeId: string, role: string | undefined) =>
  turn.call('POST', `${shared(turn)}/collaborators`, { granteeType, granteeId, role });

const grantOf = ({ resource }: Turn) => sql('t')`select id from grants where resource_id = ${resource.id} order by id`;
const memberOf = ({ organizationId }: Turn) =>
  sql('t')`select id from organization_members where organization_id = ${organizationId} order by id`;

async function replacePlayer({ scene, seat, who }: Turn): Promise<void> {
  if (scene.players[seat] === who) scene.players[seat] = await makePlayer(scene);
}

/** How often each act is drawn, and what it does; null when there is nothing to do it to. */
const ACTS: Record<string, { weight: number; act: Act }> = {
  'share with a person': {
    weight: 14,
    act: (turn) => share(turn, 'user', turn.other.person.id, turn.one(['viewer', 'admin', 'owner'])),
  },
  'share with a team': {
    weight: 6,
    act: async (turn) => {
      const team = await turn.any(
        sql(
          't',
        )`select t.id from teams t left join resources r on r.id = ${turn.resource.id} order by t.organization_id = r.organization_id, t.id`,
      );
      return team ? share(turn, 'team', team.id, turn.one(['viewer', 'admin'])) : null;
    },
  },
  'share with an organization': {
    weight: 6,
    act: (turn) => share(turn, 'organization', turn.organizationId, turn.one(['viewer', 'admin'])),
  },
  revoke: {
    weight: 8,
    act: async (turn) => {
      const held = await turn.any(grantOf(turn));
      return held ? turn.call('DELETE', `${shared(turn)}/collaborators/${held.id}`) : null;
    },
  },
  'change a grant': {
    weight: 6,
    act: async (turn) => {
      const held = await turn.any(grantOf(turn));
      return held ? turn.call('PATCH', `${shared(turn)}/collaborators/${held.id}`, { role: turn.one(['viewer', 'admin', 'owner']) }) : null;
    },
  },
  'leave a resource': { weight: 5, act: (turn) => turn.call('DELETE', `${shared(turn)}/collaborators/me`) },
  transfer: {
    weight: 7,
    act: async (turn) =>
      TRANSFERABLE[turn.resource.type]
        ? turn.call('POST', `${shared(turn)}/transfer`, {
            targetOrganizationId: turn.one([turn.organizationId, turn.who.person.workspaceId]),
          })
        : null,
  },
  'hand over': {
    weight: 4,
    act: (turn) =>
      turn.call('POST', '/api/v1/collaborators/transfer-admin', {
        transfers: [{ resourceType: turn.resource.type, resourceId: turn.resource.id, targetUserId: turn.other.person.id }],
      }),
  },
  'leave an organization': { weight: 6, act: (turn) => manage(turn, 'leave', { organizationId: turn.organizationId }) },
  'add a member': {
    weight: 7,
    act: (turn) =>
      manage(turn, 'add-member', {
        organizationId: turn.organizationId,
        userId: turn.other.person.id,
        role: turn.one(['member', 'admin', 'owner']),
      }),
  },
  'remove a member': {
    weight: 4,
    act: async (turn) => {
      const member = await turn.any(memberOf(turn));
      return member ? manage(turn, 'remove-member', { organizationId: turn.organizationId, memberIdOrEmail: member.id }) : null;
    },
  },
  'change a role': {
    weight: 5,
    act: async (turn) => {
      const member = await turn.any(memberOf(turn));
      const role = turn.one(['member', 'admin', 'owner']);
      return member ? manage(turn, 'update-member-role', { organizationId: turn.organizationId, memberId: member.id, role }) : null;
    },
  },
  'delete an account': {
    weight: 3,
    act: async (turn) => {
      const suffix = turn.roll() < 0.5 ? '?deleteOwned=true' : '';
      const done = await turn.call('DELETE', `/api/v1/users/${turn.who.person.id}${suffix}`);
      if (done.status === 200) await replacePlayer(turn);
      return done;
    },
  },
  'delete an organization': { weight: 3, act: (turn) => manage(turn, 'delete', { organizationId: turn.organizationId }) },
  'make an organization': {
    weight: 2,
    act: async (turn) => {
      const { scene } = turn;
      const slug = `made-${(scene.made.organizations += 1)}`;
      const made = await manage(turn, 'create', { name: slug, slug });
      if (made.status < 300) {
        const { id } = made.body as { id: string };
        await scene.db.run(sql('t')`update organizations set visibility = 'public' where id = ${id}`);
        scene.organizations[scene.organizations.length < 8 ? scene.organizations.length : Math.floor(turn.roll() * 8)] = id;
      }
      return made;
    },
  },
  'make an experiment': {
    weight: 3,
    act: async (turn) => {
      const { scene } = turn;
      const organizationId = turn.one([turn.organizationId, undefined]);
      const made = await turn.call('POST', '/api/v1/experiments', { name: 'Fire', ...(organizationId ? { organizationId } : {}) });
      if (made.status < 300) {
        scene.made.resources += 1;
        const { id } = made.body as { id: string };
        scene.resources[scene.resources.length < 60 ? scene.resources.length : Math.floor(turn.roll() * 60)] = { type: 'experiment', id };
      }
      return made;
    },
  },
  'ask to join': { weight: 3, act: (turn) => turn.call('POST', `/api/v1/organizations/${turn.organizationId}/join-requests`, {}) },
  decide: {
    weight: 4,
    act: async (turn) => {
      const { organizationId } = turn;
      const request = await turn.any(
        sql('t')`select id from organization_join_requests where organization_id = ${organizationId} and status = 'pending' order by id`,
      );
      const decision = turn.one(['approve', 'approve', 'reject']);
      return request ? turn.call('PATCH', `/api/v1/organizations/${organizationId}/join-requests/${request.id}`, { decision }) : null;
    },
  },
  invite: {
    weight: 4,
    act: (turn) =>
      manage(turn, 'invite-member', {
        organizationId: turn.organizationId,
        email: turn.other.email,
        role: turn.one(['member', 'admin']),
      }),
  },
  accept: {
    weight: 4,
    act: async (turn) => {
      const offer = await turn.any(
        sql('t')`select id from organization_invitations where email = ${turn.who.email} and status = 'pending' order by id`,
      );
      return offer ? manage(turn, 'accept-invitation', { invitationId: offer.id }) : null;
    },
  },
  'make a team': { weight: 2, act: (turn) => manage(turn, 'create-team', { organizationId: turn.organizationId, name: 'N' }) },
  'remove a team': {
    weight: 1,
    act: async (turn) => {
      const { organizationId } = turn;
      const team = await turn.any(sql('t')`select id from teams where organization_id = ${organizationId} order by id`);
      return team ? manage(turn, 'remove-team', { organizationId, teamId: team.id }) : null;
    },
  },
};

const DRAWN = Object.entries(ACTS).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name));

/** One random act of a random person; null when there was nothing to act on. A call that nobody answers throws. */
async function act(scene: Scene, roll: () => number, baseUrl: string): Promise<{ name: string; status: number } | null> {
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(roll() * list.length)];
  const seat = Math.floor(roll() * scene.players.length);
  const who = scene.players[seat]!;
  const turn: Turn = {
    scene,
    roll,
    one,
    any: async (query) => one(await scene.db.rows<{ id: string }>(query)),
    seat,
    who,
    other: one(scene.players)!,
    resource: one(scene.resources)!,
    organizationId: one(scene.organizations)!,
    call: async (method, path, body) => {
      const bySession = path.startsWith('/api/v1/auth/');
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          ...(bySession ? { cookie: who.cookie, origin: new URL(baseUrl).origin } : { 'x-api-key': who.person.apiKey }),
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
    },
  };
  const name = one(DRAWN)!;
  const done = await ACTS[name]!.act(turn);
  // closed by an act whose answer a kill cut off
  if (done?.status === 401) await replacePlayer(turn);
  return done && { name, status: done.status };
}

/** How often each act was answered with each status, and how many calls were cut off. */
export interface Fired {
  answered: Record<string, Record<number, number>>;
  cutOff: number;
}

/** Many acts at once, until so many have been answered. `upUrls` answers where a server is up; while there is none, everybody waits. */
export async function fire(
  scene: Scene,
  {
    seed,
    acts,
    lanes,
    upUrls,
    onAnswer,
  }: { seed: number; acts: number; lanes: number; upUrls: () => readonly string[]; onAnswer?: () => void },
): Promise<Fired> {
  const fired: Fired = { answered: {}, cutOff: 0 };
  let left = acts;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const roll = random(seed + lane);
      while (left > 0) {
        const urls = upUrls();
        const baseUrl = urls[Math.floor(roll() * urls.length)];
        if (baseUrl === undefined) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        try {
          const done = await act(scene, roll, baseUrl);
          if (!done) continue;
          left -= 1;
          onAnswer?.();
          const row = (fired.answered[done.name] ??= {});
          row[done.status] = (row[done.status] ?? 0) + 1;
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          fired.cutOff += 1;
        }
      }
    }),
  );
  return fired;
}

/** Adds what one fire did to the sum of others. */
export function addFired(sum: Fired, more: Fired): void {
  sum.cutOff += more.cutOff;
  for (const [name, statuses] of Object.entries(more.answered)) {
    const row = (sum.answered[name] ??= {});
    for (const [status, times] of Object.entries(statuses)) row[Number(status)] = (row[Number(status)] ?? 0) + times;
  }
}

/** Answers with a status in a range. */
export const countFired = ({ answered }: Fired, from: number, below: number): number =>
  Object.values(answered)
    .flatMap((row) => Object.entries(row))
    .reduce((sum, [status, times]) => sum + (Number(status) >= from && Number(status) < below ? times : 0), 0);
