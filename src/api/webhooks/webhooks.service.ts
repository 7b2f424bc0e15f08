import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { open, seal } from '../../auth/seal.ts';
import { makeWebhookSecret } from '../../auth/proofs/webhooks.ts';
import { findUrlProblem } from '../../callouts/call.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { enqueueMessage, wake } from '../events/events.service.ts';
import { dropVersion, listGiven, refuseBody, requireExpected, type Target } from '../input/input.service.ts';
import { requireAdmin } from '../organizations/organizations.service.ts';
import { failWaiting, findDelivery, reopenDelivery } from './deliveries.queries.ts';
import type { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookChanges, WebhookDeliveryReport } from './webhooks.model.ts';
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  lockWebhooksOf,
  replaceSecret,
  updateWebhook,
  type StoredWebhook,
} from './webhooks.queries.ts';

const MOST = 20;
const OVERLAP_HOURS = 24;

const sealSecret = (ctx: Context, secret: string): string => seal(ctx.config.secret, 'webhook', { secret });

/** Opens a sealed secret; undefined when it was sealed under another key. */
export function openSecret(ctx: Context, sealed: string): string | undefined {
  const opened = open(ctx.config.secret, 'webhook', sealed) as { secret?: unknown } | undefined;
  return typeof opened?.secret === 'string' ? opened.secret : undefined;
}

function checkUrl(ctx: Context, url: string): string {
  const problem = findUrlProblem(url, ctx.config.webhooks.allowLoopback);
  if (problem !== null) throw refuseBody([{ path: '/url', message: problem }]);
  return new URL(url).href;
}

export interface WebhookPath {
  organizationId: string;
  webhookId: string;
  /** Versions in which it may be changed; any when absent. */
  versions?: Target['versions'];
}

/** Finds a webhook of an organization of which the caller is owner or admin. Errors: organizationNotFound, adminsOnly, webhookNotFound. */
export async function requireWebhook(ctx: Context, caller: Caller, path: WebhookPath): Promise<StoredWebhook> {
  await requireAdmin(ctx.db, caller, path.organizationId);
  return (await findWebhook(ctx.db, path.organizationId, path.webhookId)) ?? refuse(errors.webhookNotFound());
}

async function lock(tx: Transaction, caller: Caller, path: WebhookPath): Promise<StoredWebhook> {
  await requireAdmin(tx, caller, path.organizationId);
  const found = (await lockWebhook(tx, path.organizationId, path.webhookId)) ?? refuse(errors.webhookNotFound());
  requireExpected(found.version, path.versions ?? null);
  return found;
}

export async function loadWebhooks(ctx: Context, caller: Caller, organizationId: string): Promise<Webhook[]> {
  await requireAdmin(ctx.db, caller, organizationId);
  return (await listWebhooks(ctx.db, organizationId)).map(dropVersion);
}

/** Registers an endpoint. Only this answer holds its secret. Errors: invalid input, webhookLimitReached. */
export const createWebhook = (ctx: Context, caller: Caller, organizationId: string, body: NewWebhook): Promise<CreatedWebhook> =>
  ctx.db.transaction(async (tx) => {
    await requireAdmin(tx, caller, organizationId);
    const url = checkUrl(ctx, body.url);
    if ((await lockWebhooksOf(tx, organizationId)) === 0) throw errors.organizationNotFound();
    if ((await listWebhooks(tx, organizationId)).length >= MOST) throw errors.webhookLimitReached(MOST);
    const secret = makeWebhookSecret();
    const made = await insertWebhook(tx, {
      id: randomUUIDv7(),
      organizationId,
      url,
      description: body.description ?? null,
      kinds: [...new Set(body.kinds)],
      secret: sealSecret(ctx, secret),
      createdBy: caller.userId,
    });
    if (!made) throw errors.conflict();
    await audit(tx, caller, { action: 'webhook.created', organizationId, details: { webhookId: made.id } });
    return caller.created(tx, { ...dropVersion(made), secret }, { made: `webhook ${made.id}; rotate its secret to see one` });
  });

/** Changes the given fields. Errors: invalid input, webhookNotFound, preconditionFailed. */
export const changeWebhook = (ctx: Context, caller: Caller, path: WebhookPath, body: WebhookChanges): Promise<StoredWebhook> =>
  ctx.db.transaction(async (tx) => {
    const found = await lock(tx, caller, path);
    const fields = listGiven(body, { url: true, description: true, kinds: true, enabled: true });
    if (fields.length === 0) return found;
    const changed = await updateWebhook(tx, found.id, {
      url: body.url === undefined ? undefined : checkUrl(ctx, body.url),
      description: body.description,
      kinds: body.kinds && [...new Set(body.kinds)],
      enabled: body.enabled,
    });
    if (!changed) throw errors.webhookNotFound();
    if (!changed.enabled) await failWaiting(tx, found.id);
    const details = { webhookId: found.id, fields };
    await audit(tx, caller, { action: 'webhook.updated', organizationId: path.organizationId, details });
    return changed;
  });

export const removeWebhook = (ctx: Context, caller: Caller, path: WebhookPath): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const found = await lock(tx, caller, path);
    await deleteWebhook(tx, found.id);
    await audit(tx, caller, { action: 'webhook.deleted', organizationId: path.organizationId, details: { webhookId: found.id } });
  });

/** Makes a new secret. For a day, calls are signed by the old secret too. */
export const rotateSecret = (ctx: Context, caller: Caller, path: WebhookPath): Promise<RotatedSecret> =>
  ctx.db.transaction(async (tx) => {
    const found = await lock(tx, caller, path);
    const secret = makeWebhookSecret();
    const replaced = (await replaceSecret(tx, found.id, sealSecret(ctx, secret), OVERLAP_HOURS)) ?? refuse(errors.webhookNotFound());
    await audit(tx, caller, { action: 'webhook.secret-rotated', organizationId: path.organizationId, details: { webhookId: found.id } });
    return { secret, oldSecretUntil: replaced.oldSecretUntil };
  });

const reportOf = async (db: Queryable, webhookId: string, deliveryId: string): Promise<WebhookDeliveryReport> =>
  (await findDelivery(db, webhookId, deliveryId)) ?? refuse(errors.webhookDeliveryNotFound());

/** Sends a `webhook.test` message, whatever kinds are subscribed. Errors: webhookNotFound, webhookDisabled. */
export const testWebhook = (ctx: Context, caller: Caller, path: WebhookPath): Promise<WebhookDeliveryReport> =>
  ctx.db.transaction(async (tx) => {
    const found = await lock(tx, caller, path);
    if (!found.enabled) throw errors.webhookDisabled();
    const to = { endpointId: found.id, isFailing: found.failures > 0 };
    const data = { organizationId: path.organizationId, webhookId: found.id };
    const id = await enqueueMessage(ctx, tx, to, { kind: 'webhook.test', data });
    return caller.created(tx, await reportOf(tx, found.id, id));
  });

/** Loads one delivery with its body and its attempts. */
export async function loadDelivery(ctx: Context, caller: Caller, path: WebhookPath, deliveryId: string): Promise<WebhookDeliveryReport> {
  const { id } = await requireWebhook(ctx, caller, path);
  return reportOf(ctx.db, id, deliveryId);
}

/** Sends an ended delivery once more, under the same id. Errors: webhookDeliveryNotFound, webhookDeliveryPending, webhookDisabled. */
export const redeliver = (ctx: Context, caller: Caller, path: WebhookPath, deliveryId: string): Promise<WebhookDeliveryReport> =>
  ctx.db.transaction(async (tx) => {
    const found = await lock(tx, caller, path);
    await reportOf(tx, found.id, deliveryId);
    if (!found.enabled) throw errors.webhookDisabled();
    if ((await reopenDelivery(tx, found.id, deliveryId)) === 0) throw errors.webhookDeliveryPending();
    await wake(ctx, { endpointId: found.id, isFailing: found.failures > 0 }, tx);
    return reportOf(tx, found.id, deliveryId);
  });
