import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const upsertOrganization = (db: Queryable, organization: { name: string; slug: string }) =>
  db.one<{ id: string }>(sql('sample.upsertOrganization')`
    insert into organizations (id, name, slug) values (${randomUUIDv7()}, ${organization.name}, ${organization.slug})
    on conflict (slug) do update set slug = excluded.slug returning id`);

export const upsertMember = (db: Queryable, member: { organizationId: string; userId: string; role: string }) =>
  db.run(sql('sample.upsertMember')`
    insert into organization_members (id, organization_id, user_id, role) values (${randomUUIDv7()}, ${member.organizationId}, ${member.userId}, ${member.role})
    on conflict (organization_id, user_id) do nothing`);

export const upsertTeam = (db: Queryable, team: { organizationId: string; name: string }) =>
  db.one<{ id: string }>(sql('sample.upsertTeam')`
    with found as (select id from teams where organization_id = ${team.organizationId} and name = ${team.name}),
    made as (
      insert into teams (id, organization_id, name) select ${randomUUIDv7()}::uuid, ${team.organizationId}, ${team.name} where not exists (select from found) returning id
    )
    select id from found union all select id from made limit 1`);

export const upsertTeamMember = (db: Queryable, member: { teamId: string; organizationId: string; userId: string }) =>
  db.run(sql('sample.upsertTeamMember')`
    insert into team_members (id, team_id, organization_id, user_id) values (${randomUUIDv7()}, ${member.teamId}, ${member.organizationId}, ${member.userId})
    on conflict (team_id, user_id) do nothing`);

export const upsertGrant = (db: Queryable, grant: { resourceId: string; userId?: string; teamId?: string; role: string }) =>
  db.run(sql('sample.upsertGrant')`
    insert into grants (id, resource_id, resource_type, user_id, team_id, role)
    values (${randomUUIDv7()}, ${grant.resourceId}, 'experiment', ${grant.userId ?? null}, ${grant.teamId ?? null}, ${grant.role})
    on conflict do nothing`);

/** The sample's own experiment, where it was made before. */
export const findSampleExperiment = (db: Queryable, organizationId: string, name: string) =>
  db.one<{ experimentId: string; uploadTableId: string | null }>(sql('sample.findExperiment')`
    select r.id as "experimentId", (select t.id from lake_tables t where t.experiment_id = r.id and t.kind = 'upload' order by t.created_at limit 1) as "uploadTableId"
    from resources r where r.organization_id = ${organizationId} and r.type = 'experiment' and r.name = ${name} order by r.created_at limit 1`);

/** Whether a key still opens the account that it was made for. */
export const isLiveKey = async (db: Queryable, hash: Buffer, userId: string) =>
  (await db.one(sql('sample.isLiveKey')`select 1 from api_keys k where k.hash = ${hash} and k.user_id = ${userId} and key_stands(k)`)) !==
  undefined;
