import { randomUUIDv7 } from 'node:crypto';
import type { ResourceType } from '../../src/authorization/roles.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';

interface Made {
  organizationId: string;
  createdBy: string;
  visibility?: 'private' | 'public';
  publicFrom?: Date;
  status?: string;
  name?: string;
}

/** A shared thing of any type, straight in the database: sharing knows of it only what all six types have. */
export async function makeResource(db: Database, type: ResourceType, made: Made): Promise<{ type: ResourceType; id: string }> {
  const id = randomUUIDv7();
  await db.run(sql('cast')`
    insert into resources (id, type, organization_id, visibility, public_from, name, created_by)
    values (${id}, ${type}, ${made.organizationId}, ${made.visibility ?? 'private'}, ${made.publicFrom ?? null}, ${made.name ?? `A ${type}`}, ${made.createdBy})`);
  if (type === 'experiment') await db.run(sql('cast')`insert into experiments (id, status) values (${id}, ${made.status ?? 'active'})`);
  return { type, id };
}

/** An organization with members, straight in the database; roles as written. */
export async function makeOrganization(
  db: Database,
  made: { name: string; slug: string; visibility?: 'private' | 'public'; members: Readonly<Record<string, string>> },
): Promise<string> {
  const id = randomUUIDv7();
  await db.run(
    sql(
      'cast',
    )`insert into organizations (id, name, slug, visibility) values (${id}, ${made.name}, ${made.slug}, ${made.visibility ?? 'private'})`,
  );
  for (const [userId, role] of Object.entries(made.members))
    await db.run(
      sql(
        'cast',
      )`insert into organization_members (id, organization_id, user_id, role) values (gen_random_uuid(), ${id}, ${userId}, ${role})`,
    );
  return id;
}
