import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { InvitationForRecipient, InvitationState, OrganizationInvitation, OwnOrganizationInvitation } from './authority.model.ts';
import type { MembershipRole } from './organizations.model.ts';

const columns = fragment`
  i.id, i.organization_id as "organizationId", i.email, i.role, i.status, i.expires_at as "expiresAt", i.created_at as "createdAt", i.inviter_id as "inviterId",
  (select string_agg(t.team_id::text, ',' order by t.team_id) from organization_invitation_teams t where t.invitation_id = i.id) as "teamId"`;

export const listInvitations = (db: Queryable, organizationId: string) =>
  db.rows<OrganizationInvitation>(sql('organizations.listInvitations')`
    select ${columns} from organization_invitations i where i.organization_id = ${organizationId} order by i.created_at desc, i.id desc limit 1000`);

export type StoredInvitation = OrganizationInvitation & { isExpired: boolean };

export const findInvitation = (db: Queryable, id: string) =>
  db.one<StoredInvitation>(sql('organizations.findInvitation')`
    select ${columns}, i.expires_at <= now() as "isExpired" from organization_invitations i where i.id = ${id}`);

export const findInvitationForRecipient = (db: Queryable, id: string) =>
  db.one<InvitationForRecipient & { isExpired: boolean; inviterIsMember: boolean }>(sql('organizations.findInvitationForRecipient')`
    select ${columns}, i.expires_at <= now() as "isExpired", o.name as "organizationName", o.slug as "organizationSlug", p.email as "inviterEmail",
      exists (select from organization_members m where m.organization_id = i.organization_id and m.user_id = i.inviter_id) as "inviterIsMember"
    from organization_invitations i join organizations o on o.id = i.organization_id join people p on p.user_id = i.inviter_id
    where i.id = ${id}`);

/** Lists live invitations to this address. */
export const listInvitationsTo = (db: Queryable, email: string) =>
  db.rows<OwnOrganizationInvitation>(sql('organizations.listInvitationsTo')`
    select ${columns}, o.name as "organizationName"
    from organization_invitations i join organizations o on o.id = i.organization_id
    where i.email = ${email} and i.status = 'pending' and i.expires_at > now()
    order by i.created_at desc, i.id desc limit 1000`);

export const findPendingInvitation = (db: Queryable, organizationId: string, email: string) =>
  db.one<{ id: string; isExpired: boolean }>(sql('organizations.findPendingInvitation')`
    select id, expires_at <= now() as "isExpired" from organization_invitations
    where organization_id = ${organizationId} and email = canonical_email(${email}) and status = 'pending' for update`);

export const countLiveInvitations = (db: Queryable, organizationId: string) =>
  db.count(sql('organizations.countLiveInvitations')`
    select count(*) as count from organization_invitations where organization_id = ${organizationId} and status = 'pending' and expires_at > now()`);

export const insertInvitation = (
  db: Queryable,
  row: { id: string; organizationId: string; email: string; role: string; inviterId: string; hours: number },
) =>
  db.run(sql('organizations.insertInvitation')`
    insert into organization_invitations (id, organization_id, email, role, inviter_id, expires_at)
    values (${row.id}, ${row.organizationId}, canonical_email(${row.email}), ${row.role}, ${row.inviterId}, now() + make_interval(hours => ${row.hours}))`);

export const insertInvitationTeams = (db: Queryable, invitationId: string, teamIds: readonly string[]) =>
  db.run(sql('organizations.insertInvitationTeams')`
    insert into organization_invitation_teams (invitation_id, team_id) select ${invitationId}, unnest(${teamIds}::uuid[])`);

export const countTeams = (db: Queryable, organizationId: string, teamIds: readonly string[]) =>
  db.count(sql('organizations.countTeams')`
    select count(*) as count from teams where organization_id = ${organizationId} and id = any (${teamIds}::uuid[])`);

export const prolongInvitation = (db: Queryable, id: string, hours: number) =>
  db.run(sql('organizations.prolongInvitation')`
    update organization_invitations set expires_at = now() + make_interval(hours => ${hours}) where id = ${id}`);

/** Ends a pending invitation. Answers 0 when it was no longer pending. */
export const endInvitation = (db: Queryable, id: string, status: InvitationState) =>
  db.run(sql('organizations.endInvitation')`
    update organization_invitations set status = ${status} where id = ${id} and status = 'pending'`);

/** Cancels the pending invitations that somebody made, except to the roles that they may still offer. */
export const cancelInvitationsBy = (db: Queryable, organizationId: string, inviterId: string, offerable: readonly MembershipRole[] = []) =>
  db.run(sql('organizations.cancelInvitationsBy')`
    update organization_invitations set status = 'canceled'
    where organization_id = ${organizationId} and inviter_id = ${inviterId} and status = 'pending' and role <> all (${offerable}::text[])`);

export const listInvitedTeams = (db: Queryable, invitationId: string) =>
  db.values<string>(sql('organizations.listInvitedTeams')`
    select team_id from organization_invitation_teams where invitation_id = ${invitationId} order by team_id`);
