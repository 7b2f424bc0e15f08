import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { NewsletterStatus, WhatsNewSeen } from './newsletter.model.ts';

export const findAddress = (db: Queryable, userId: string) =>
  db.one<{ email: string | null; isVerified: boolean }>(sql('newsletter.findAddress')`
    select email, email_verified as "isVerified" from users where id = ${userId}`);

export const findStatus = (db: Queryable, email: string) =>
  db.one<{ status: NewsletterStatus }>(sql('newsletter.findStatus')`
    select status from newsletter_subscribers where email = canonical_email(${email})`);

/** Marks an address as pending, unless it is subscribed. Answers its state. */
export const upsertPending = (db: Queryable, email: string) =>
  db.one<{ status: NewsletterStatus }>(sql('newsletter.upsertPending')`
    insert into newsletter_subscribers as n (email) values (canonical_email(${email}))
    on conflict (email) do update set status = case n.status when 'subscribed' then 'subscribed' else 'pending' end, updated_at = now()
    returning status`);

export const upsertStatus = (db: Queryable, email: string, status: 'subscribed' | 'unsubscribed') =>
  db.run(sql('newsletter.upsertStatus')`
    insert into newsletter_subscribers (email, status) values (canonical_email(${email}), ${status})
    on conflict (email) do update set status = excluded.status, updated_at = now()`);

/** Confirms an address that is pending. Any other state stays, so that an old letter does not undo a later unsubscribing. */
export const confirmPending = (db: Queryable, email: string) =>
  db.one<{ status: NewsletterStatus }>(sql('newsletter.confirm')`
    update newsletter_subscribers set status = case status when 'pending' then 'subscribed' else status end, updated_at = now()
    where email = canonical_email(${email}) returning status`);

/** Unsubscribes an address. An address that is not known, or was forgotten, is not added. */
export const leaveAddress = (db: Queryable, email: string) =>
  db.run(sql('newsletter.leave')`
    update newsletter_subscribers set status = 'unsubscribed', updated_at = now() where email = canonical_email(${email})`);

/** Deletes addresses that have waited longer than these days to be confirmed. */
export const deletePending = (db: Queryable, days: number) =>
  db.run(sql('newsletter.deletePending')`
    delete from newsletter_subscribers where status = 'pending' and updated_at < now() - make_interval(days => ${days}::integer)`);

export const findWhatsNewSeen = (db: Queryable, userId: string) =>
  db.one<WhatsNewSeen>(sql('newsletter.findWhatsNewSeen')`
    select whats_new_seen_at as "lastSeenAt" from profiles where user_id = ${userId}`);

export const markWhatsNewSeen = (db: Queryable, userId: string) =>
  db.one<WhatsNewSeen>(sql('newsletter.markWhatsNewSeen')`
    update profiles set whats_new_seen_at = now() where user_id = ${userId} returning whats_new_seen_at as "lastSeenAt"`);
