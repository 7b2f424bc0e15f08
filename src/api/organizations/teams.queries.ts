import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ManagedTeam, ManagedTeamMember } from './teams.model.ts';

const columns = fragment`t.id, t.name, t.organization_id as "organizationId", t.created_at as "createdAt", t.updated_at as "updatedAt"`;
const memberColumns = fragment`m.id, m.team_id as "teamId", m.user_id as "userId", m.created_at as "createdAt"`;

export const listManagedTeams = (db: Queryable, organizationId: string) =>
  db.rows<ManagedTeam>(sql('organizations.listManagedTeams')`
    select ${columns} from teams t where t.organization_id = ${organizationId} order by t.created_at, t.id`);

export const listTeamsOf = (db: Queryable, userId: string) =>
  db.rows<ManagedTeam>(sql('organizations.listTeamsOf')`
    select ${columns} from team_members m join teams t on t.id = m.team_id where m.user_id = ${userId} order by t.created_at, t.id`);

export const findTeam = (db: Queryable, organizationId: string, id: string) =>
  db.one<ManagedTeam>(sql('organizations.findTeam')`
    select ${columns} from teams t where t.id = ${id} and t.organization_id = ${organizationId}`);

export const findTeamOf = (db: Queryable, teamId: string, userId: string) =>
  db.one<{ organizationId: string; isInTeam: boolean }>(sql('organizations.findTeamOf')`
    select t.organization_id as "organizationId", exists (select from team_members m where m.team_id = t.id and m.user_id = ${userId}) as "isInTeam"
    from teams t where t.id = ${teamId}`);

export const insertTeam = (db: Queryable, team: { organizationId: string; name: string }) =>
  db.one<ManagedTeam>(sql('organizations.insertTeam')`
    insert into teams as t (id, organization_id, name) values (${randomUUIDv7()}, ${team.organizationId}, ${team.name}) returning ${columns}`);

export const renameTeam = (db: Queryable, id: string, name: string) =>
  db.one<ManagedTeam>(sql('organizations.renameTeam')`
    update teams t set name = ${name}, updated_at = now() where id = ${id} returning ${columns}`);

/** Deletes a team with its members and every grant that names it. */
export const deleteTeam = (db: Queryable, id: string) => db.run(sql('organizations.deleteTeam')`delete from teams where id = ${id}`);

export const listTeamMembers = (db: Queryable, teamId: string) =>
  db.rows<ManagedTeamMember>(sql('organizations.listTeamMembers')`
    select ${memberColumns} from team_members m where m.team_id = ${teamId} order by m.created_at, m.id`);

export const findTeamMember = (db: Queryable, teamId: string, userId: string) =>
  db.one<ManagedTeamMember>(sql('organizations.findTeamMember')`
    select ${memberColumns} from team_members m where m.team_id = ${teamId} and m.user_id = ${userId}`);

export const insertTeamMember = (db: Queryable, member: { teamId: string; organizationId: string; userId: string }) =>
  db.run(sql('organizations.insertTeamMember')`
    insert into team_members (id, team_id, organization_id, user_id) values (${randomUUIDv7()}, ${member.teamId}, ${member.organizationId}, ${member.userId})
    on conflict (team_id, user_id) do nothing`);

export const deleteTeamMember = (db: Queryable, teamId: string, userId: string) =>
  db.run(sql('organizations.deleteTeamMember')`delete from team_members where team_id = ${teamId} and user_id = ${userId}`);
