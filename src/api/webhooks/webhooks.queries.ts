import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { EventKind } from '../events/events.model.ts';
import type { Webhook } from './webhooks.model.ts';

export type StoredWebhook = Webhook & { version: number };

const columns = fragment`
  w.id, w.organization_id as "organizationId", w.url, w.description, w.kinds, w.is_enabled as enabled, w.disabled_reason as "disabledReason", w.failures,
  w.failing_since as "failingSince", w.last_success_at as "lastSuccessAt", w.created_by as "createdBy", w.created_at as "createdAt",
  w.updated_at as "updatedAt", w.version`;

export const listWebhooks = (db: Queryable, organizationId: string) =>
  db.rows<StoredWebhook>(sql('webhooks.list')`
    select ${columns} from webhook_endpoints w where w.organization_id = ${organizationId} order by w.created_at desc, w.id desc`);

export const findWebhook = (db: Queryable, organizationId: string, id: string) =>
  db.one<StoredWebhook>(sql('webhooks.find')`
    select ${columns} from webhook_endpoints w where w.id = ${id} and w.organization_id = ${organizationId}`);

export const lockWebhook = (db: Queryable, organizationId: string, id: string) =>
  db.one<StoredWebhook>(sql('webhooks.lock')`
    select ${columns} from webhook_endpoints w where w.id = ${id} and w.organization_id = ${organizationId} for update`);

/** Locks an organization's list of webhooks, so that two creations count each other. Answers 0 when the organization is gone. */
export const lockWebhooksOf = (db: Queryable, organizationId: string) =>
  db.run(sql('webhooks.lockOf')`select from organizations where id = ${organizationId} for no key update`);

type NewWebhookRow = Pick<Webhook, 'id' | 'organizationId' | 'url' | 'description'> & {
  kinds: readonly EventKind[];
  /** Sealed. */
  secret: string;
  createdBy: string;
};

export const insertWebhook = (db: Queryable, row: NewWebhookRow) =>
  db.one<StoredWebhook>(sql('webhooks.insert')`
    insert into webhook_endpoints as w (id, organization_id, url, description, kinds, secret, created_by)
    values (${row.id}, ${row.organizationId}, ${row.url}, ${row.description}, ${row.kinds}::text[], ${row.secret}, ${row.createdBy}) returning ${columns}`);

interface WebhookChange {
  url: string | undefined;
  description: string | null | undefined;
  kinds: readonly EventKind[] | undefined;
  enabled: boolean | undefined;
}

/** Sets the given fields. A new URL, or enabling, clears the failures. */
export const updateWebhook = (db: Queryable, id: string, change: WebhookChange) => {
  const afresh = fragment`(${change.url !== undefined} or coalesce(${change.enabled ?? null}::boolean, false))`;
  return db.one<StoredWebhook>(sql('webhooks.update')`
    update webhook_endpoints w set
      url = coalesce(${change.url ?? null}, url), kinds = coalesce(${change.kinds ?? null}::text[], kinds),
      description = case when ${change.description !== undefined} then ${change.description ?? null} else description end,
      is_enabled = coalesce(${change.enabled ?? null}::boolean, is_enabled),
      disabled_reason = case when ${change.enabled !== undefined} then null else disabled_reason end,
      failures = case when ${afresh} then 0 else failures end,
      failing_since = case when ${afresh} then null else failing_since end,
      held_until = case when ${afresh} then null else held_until end,
      updated_at = now(), version = version + 1
    where w.id = ${id} returning ${columns}`);
};

/** Replaces the secret. The old secret stays valid until the answered moment. */
export const replaceSecret = (db: Queryable, id: string, secret: string, overlapHours: number) =>
  db.one<{ oldSecretUntil: Date }>(sql('webhooks.replaceSecret')`
    update webhook_endpoints set old_secret = secret, old_secret_until = now() + make_interval(hours => ${overlapHours}::integer), secret = ${secret},
      updated_at = now(), version = version + 1
    where id = ${id} returning old_secret_until as "oldSecretUntil"`);

/** Deletes a webhook with its messages and their attempts. */
export const deleteWebhook = (db: Queryable, id: string) => db.run(sql('webhooks.delete')`delete from webhook_endpoints where id = ${id}`);
