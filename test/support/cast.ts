import { randomUUIDv7 } from 'node:crypto';
import { createUser } from '../../src/api/account/account.service.ts';
import { createApiKey } from '../../src/api/credentials/credentials.service.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

/** A person of the cast, with a key that tests may use as often as they like. */
export interface Person {
  id: string;
  apiKey: string;
  /** Their personal workspace. */
  workspaceId: string;
}

/** The cast that every test shares: `owner`, `admin` and `member` of Leaf Lab, a `teammate` (only a team grant), a `viewer` (only a direct grant), a `stranger`. */
export interface Cast {
  leafLab: string;
  fieldTeam: string;
  owner: Person;
  admin: Person;
  member: Person;
  teammate: Person;
  viewer: Person;
  stranger: Person;
}

const NAMES = ['owner', 'admin', 'member', 'teammate', 'viewer', 'stranger'] as const;

export async function makePerson(db: Database, name: string): Promise<Person> {
  const user = await createUser(db, {
    email: `${name}@example.com`,
    firstName: name[0]!.toUpperCase() + name.slice(1),
    lastName: 'Tester',
    verified: true,
  });
  const { key } = await createApiKey(db, { userId: user.id, name: 'test', rateLimit: 1_000_000 });
  return { id: user.id, apiKey: key, workspaceId: user.organizationId };
}

/** Makes the cast. The teammate is a member of Field Partners, whose field team the sample grants name. */
export async function makeCast(db: Database): Promise<Cast> {
  const people = {} as Record<(typeof NAMES)[number], Person>;
  for (const name of NAMES) people[name] = await makePerson(db, name);
  const leafLab = randomUUIDv7();
  const partners = randomUUIDv7();
  const fieldTeam = randomUUIDv7();
  await db.run(
    sql(
      'cast',
    )`insert into organizations (id, name, slug) values (${leafLab}, 'Leaf Lab', 'leaf-lab'), (${partners}, 'Field Partners', 'field-partners')`,
  );
  await db.run(sql('cast')`
    insert into organization_members (id, organization_id, user_id, role) values
      (gen_random_uuid(), ${leafLab}, ${people.owner.id}, 'owner'), (gen_random_uuid(), ${leafLab}, ${people.admin.id}, 'admin'),
      (gen_random_uuid(), ${leafLab}, ${people.member.id}, 'member'), (gen_random_uuid(), ${partners}, ${people.teammate.id}, 'member')`);
  await db.run(sql('cast')`insert into teams (id, organization_id, name) values (${fieldTeam}, ${partners}, 'Field Team')`);
  await db.run(
    sql(
      'cast',
    )`insert into team_members (id, team_id, organization_id, user_id) values (gen_random_uuid(), ${fieldTeam}, ${partners}, ${people.teammate.id})`,
  );
  return { leafLab, fieldTeam, ...people };
}

/** Grants a role on a resource, straight in the database. */
export const grant = (
  db: Database,
  resource: { id: string; type: string },
  grantee: { user?: string; team?: string; organization?: string },
  role: string,
) =>
  db.run(sql('cast')`
    insert into grants (id, resource_id, resource_type, user_id, team_id, organization_id, role)
    values (gen_random_uuid(), ${resource.id}, ${resource.type}, ${grantee.user ?? null}, ${grantee.team ?? null}, ${grantee.organization ?? null}, ${role})`);
