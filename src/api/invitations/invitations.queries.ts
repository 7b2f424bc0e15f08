import type { Queryable } from '../../database/database.ts';
import { fragment, sql, type Fragment } from '../../database/sql.ts';
import type { Invitation, InvitationTier, InvitedTo } from './invitations.model.ts';

const columns = fragment`
  i.id, i.resource_type as "resourceType", i.resource_id as "resourceId", i.email, i.tier, i.status, i.invited_by as "invitedBy",
  p.first_name || ' ' || p.last_name as "invitedByName", r.name as "resourceName", i.created_at as "createdAt", i.updated_at as "updatedAt", i.expires_at as "expiresAt"`;
const joins = fragment`join people p on p.user_id = i.invited_by left join resources r on r.id = i.resource_id`;

type Row = Omit<Invitation, 'resourceName'> & { resourceName: string | null };
const shown = ({ resourceName, ...row }: Row): Invitation => (resourceName === null ? row : { ...row, resourceName });

export const findInvitation = async (db: Queryable, id: string) => {
  const row = await db.one<Row>(sql('invitations.find')`select ${columns} from invitations i ${joins} where i.id = ${id}`);
  return row && shown(row);
};

/** Lists live invitations to a resource, newest first. */
export const listResourceInvitations = async (db: Queryable, resourceId: string) =>
  (
    await db.rows<Row>(sql('invitations.listOfResource')`
    select ${columns} from invitations i ${joins}
    where i.resource_id = ${resourceId} and i.status = 'pending' and i.expires_at > now()
    order by i.created_at desc, i.id desc`)
  ).map(shown);

/** Lists the caller's own live invitations to the service, newest first. */
export const listPlatformInvitations = async (db: Queryable, invitedBy: string) =>
  (
    await db.rows<Row>(sql('invitations.listPlatform')`
    select ${columns} from invitations i ${joins}
    where i.resource_type = 'platform' and i.invited_by = ${invitedBy} and i.status = 'pending' and i.expires_at > now()
    order by i.created_at desc, i.id desc`)
  ).map(shown);

interface Place {
  resourceId: string | null;
  invitedBy: string;
  email: string;
}

export const findPending = (db: Queryable, { resourceId, invitedBy, email }: Place) =>
  db.one<{ id: string; isExpired: boolean }>(sql('invitations.findPending')`
    select id, expires_at <= now() as "isExpired" from invitations
    where status = 'pending' and email = canonical_email(${email})
      and case when ${resourceId}::uuid is null then resource_id is null and invited_by = ${invitedBy} else resource_id = ${resourceId}::uuid end
    for update`);

export const countPending = (db: Queryable, { resourceId, invitedBy }: Place) =>
  db.count(sql('invitations.countPending')`
    select count(*) as count from invitations
    where status = 'pending' and expires_at > now()
      and case when ${resourceId}::uuid is null then resource_id is null and invited_by = ${invitedBy} else resource_id = ${resourceId}::uuid end`);

/** Counts the invitations to the service that somebody sent in the last 24 hours. `lockInviter` makes two counts of one person wait for each other. */
export const countSentToday = (db: Queryable, invitedBy: string) =>
  db.count(sql('invitations.countSentToday')`
    select count(*) as count from invitations where invited_by = ${invitedBy} and resource_type = 'platform' and created_at > now() - interval '24 hours'`);

const lockOf = (address: Fragment) => fragment`pg_advisory_xact_lock(hashtextextended('invited ' || ${address}, 0))`;

/** Lets those who invite the same address pass one after the other, and has whoever signs in with it wait for them. */
export const lockAddress = (db: Queryable, email: string) =>
  db.run(sql('invitations.lockAddress')`select ${lockOf(fragment`canonical_email(${email})`)}`);

/** Waits for those who invite the address of an account now, and may have looked for the account before it was there. */
export const waitForInviters = (db: Queryable, userId: string) =>
  db.run(sql('invitations.waitForInviters')`select ${lockOf(fragment`email`)} from users where id = ${userId}`);

export const lockInviter = (db: Queryable, userId: string) =>
  db.one<{ email: string | null }>(sql('invitations.lockInviter')`
    select email from users where id = ${userId} and deleted_at is null for no key update`);

/** Finds a direct grant that the account of an address holds on a resource. */
export const findGrantOf = (db: Queryable, resourceId: string, email: string) =>
  db.one<{ id: string }>(sql('invitations.findGrantOf')`
    select g.id from grants g join users u on u.id = g.user_id where g.resource_id = ${resourceId} and u.email = canonical_email(${email})`);

export const findAccountOf = (db: Queryable, email: string) =>
  db.one<{ id: string }>(sql('invitations.findAccountOf')`select id from users where email = canonical_email(${email}) and email_verified`);

export const insertInvitation = (db: Queryable, row: Place & { id: string; resourceType: InvitedTo; tier: InvitationTier; days: number }) =>
  db.run(sql('invitations.insert')`
    insert into invitations (id, resource_type, resource_id, email, tier, invited_by, expires_at)
    values (${row.id}, ${row.resourceType}, ${row.resourceId}, canonical_email(${row.email}), ${row.tier}, ${row.invitedBy}, now() + make_interval(days => ${row.days}))`);

/** Ends a pending invitation. Answers 0 when it was no longer pending. */
export const endInvitation = (db: Queryable, id: string, status: 'accepted' | 'revoked') =>
  db.run(sql('invitations.end')`update invitations set status = ${status}, updated_at = now() where id = ${id} and status = 'pending'`);

export type Claimable = Pick<Invitation, 'id' | 'resourceType' | 'resourceId' | 'tier' | 'invitedBy'>;

/** Lists live invitations to the proven address of an account. */
export const listClaimable = (db: Queryable, userId: string) =>
  db.rows<Claimable>(sql('invitations.listClaimable')`
    select i.id, i.resource_type as "resourceType", i.resource_id as "resourceId", i.tier, i.invited_by as "invitedBy"
    from users u join invitations i on i.email = u.email
    where u.id = ${userId} and u.email_verified and u.deleted_at is null and i.status = 'pending' and i.expires_at > now()
    order by i.created_at, i.id`);
