import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { embargoJob } from '../../src/api/experiments/embargo.job.ts';
import { wakeEndpoints } from '../../src/api/webhooks/delivering.service.ts';
import { forgetDeliveriesJob } from '../../src/api/webhooks/webhooks.job.ts';
import { isSigned } from '../../src/auth/proofs/webhooks.ts';
import { seal } from '../../src/auth/seal.ts';
import { sql } from '../../src/database/sql.ts';
import { startReceiver, type Heard, type Receiver } from '../support/receiver.ts';
import { makeOrganization } from '../support/resources.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  site = await startTestServer({ WEBHOOK_ALLOW_LOOPBACK: 'on', WEBHOOK_TIMEOUT_SECONDS: '2' });
});
afterAll(() => site.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await site.db.run(sql('test')`delete from webhook_endpoints`);
  await receiver.stop();
});

const lab = () => site.cast.leafLab;
const at = (rest = '', organization = lab()) => `/api/v1/organizations/${organization}/webhooks${rest === '' ? '' : `/${rest}`}`;
const owner = () => site.as(site.cast.owner);
const register = async (more: object = {}) => {
  const answer = await owner()('POST', at(), { body: { url: receiver.url, kinds: ['experiment.created'], ...more } });
  expect(answer.status).toBe(201);
  return answer.body as { id: string; secret: string };
};
const experiment = async (name = 'Watched') =>
  (await owner()('POST', '/api/v1/experiments', { body: { name, organizationId: lab() } })).body.id as string;
const isSignedBy = ({ headers, body }: Heard, secret: string) =>
  isSigned(
    {
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
      body: Buffer.from(body),
    },
    [secret],
  );
const until = async <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const value = await read();
    if (good(value)) return value;
    await sleep(50);
  }
  throw new Error(`never: ${JSON.stringify(await read())}`);
};
const deliveries = async (id: string, query = {}) => (await owner()('GET', at(`${id}/deliveries`), { query })).body;
const delivery = async (id: string, deliveryId: string) => (await owner()('GET', at(`${id}/deliveries/${deliveryId}`))).body;
const webhook = async (id: string) => (await owner()('GET', at(id))).body;
/** What would be tried later is tried now. */
const hurry = async () => {
  const { db } = site;
  await db.run(sql('test')`update webhook_messages set next_attempt_at = now() where status = 'pending'`);
  await db.run(sql('test')`update webhook_endpoints set held_until = null`);
};

describe('endpoints', () => {
  test('POST /api/v1/organizations/{id}/webhooks registers one and shows its secret once', async () => {
    const body = {
      url: 'https://example.org/hooks',
      description: 'Lab bot',
      kinds: ['export.completed', 'upload.failed', 'export.completed'],
    };
    const made = await site.as(site.cast.admin)('POST', at(), { body, headers: { 'idempotency-key': 'one' } });
    expect(made.status).toBe(201);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.body).toEqual({
      id: expect.any(String),
      organizationId: lab(),
      url: 'https://example.org/hooks',
      description: 'Lab bot',
      kinds: ['export.completed', 'upload.failed'],
      enabled: true,
      disabledReason: null,
      failures: 0,
      failingSince: null,
      lastSuccessAt: null,
      createdBy: site.cast.admin.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const again = await site.as(site.cast.admin)('POST', at(), { body, headers: { 'idempotency-key': 'one' } });
    expect(again).toMatchObject({ status: 409, body: { code: 'ALREADY_DONE', detail: expect.not.stringContaining('..') } });
    const kept = await site.db.rows(sql('test')`select to_jsonb(w) as row from webhook_endpoints w`);
    expect(JSON.stringify(kept)).not.toContain(made.body.secret.slice(6));
    const refusedPaths = async (change: object) => {
      const answer = await owner()('POST', at(), { body: { ...body, ...change } });
      return [answer.status, answer.body.errors?.map(({ path }: { path: string }) => path)];
    };
    // what reads a URL takes these out without a word: https://url.spec.whatwg.org/#concept-basic-url-parser
    const SPLIT = ['\r\n', '\n', '\t', ' '].flatMap((gap) => [
      `https://example.org/${gap}hooks`,
      `https://example.org/hooks${gap}`,
      `${gap}https://example.org/hooks`,
    ]);
    for (const url of [
      'nonsense',
      'http://example.org/',
      'https://192.168.1.1/',
      'https://a:b@example.org/',
      'https://[fe80::1]/',
      ...SPLIT,
    ])
      expect([url, ...(await refusedPaths({ url }))]).toEqual([url, 400, ['/url']]);
    expect((await refusedPaths({ kinds: [] }))[0]).toBe(400);
    expect((await refusedPaths({ kinds: ['experiment.exploded'] }))[0]).toBe(400);
    expect((await refusedPaths({ kinds: ['webhook.test'] }))[0]).toBe(400);
  });

  test('GET /api/v1/organizations/{id}/webhooks lists them for owners and admins of that organization', async () => {
    const first = await register();
    const second = await register({ kinds: ['export.failed'] });
    const all = await site.as(site.cast.admin)('GET', at());
    expect(all.body.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(all.body[0].secret).toBeUndefined();
    expect(all.headers.get('x-total-count')).toBe('2');
    expect((await owner()('GET', at('', lab()), { query: { page: 2, pageSize: 1 } })).body).toHaveLength(1);
    const elsewhere = await makeOrganization(site.db, {
      name: 'Elsewhere',
      slug: 'elsewhere',
      members: { [site.cast.owner.id]: 'owner' },
    });
    const routes: [string, string][] = [
      ['GET', ''],
      ['POST', ''],
      ['GET', first.id],
      ['PATCH', first.id],
      ['DELETE', first.id],
      ['POST', `${first.id}/rotate-secret`],
      ['POST', `${first.id}/test`],
      ['GET', `${first.id}/deliveries`],
      ['GET', `${first.id}/deliveries/${crypto.randomUUID()}`],
      ['POST', `${first.id}/deliveries/${crypto.randomUUID()}/redeliver`],
    ];
    const body = { url: receiver.url, kinds: ['export.failed'] };
    for (const [method, rest] of routes) {
      const send = { ...(method === 'GET' ? {} : { body }) };
      expect([method, rest, (await site.as(site.cast.member)(method, at(rest), send)).status]).toEqual([method, rest, 403]);
      expect([method, rest, (await site.as(site.cast.stranger)(method, at(rest), send)).status]).toEqual([method, rest, 404]);
      expect([method, rest, (await site.as(null)(method, at(rest), send)).status]).toEqual([method, rest, 401]);
      if (rest !== '') expect((await owner()(method, at(rest, elsewhere), send)).status).toBe(404);
    }
  });

  test('a further one than twenty is refused', async () => {
    for (let count = 0; count < 20; count += 1) await register();
    const answer = await owner()('POST', at(), { body: { url: receiver.url, kinds: ['export.failed'] } });
    expect(answer).toMatchObject({ status: 409, body: { code: 'WEBHOOK_LIMIT_REACHED' } });
  });

  test('PATCH and GET /api/v1/organizations/{id}/webhooks/{webhookId} honour entity tags', async () => {
    const { id } = await register();
    const shown = await owner()('GET', at(id));
    expect(shown.body).toMatchObject({ id, url: receiver.url, enabled: true });
    const headers = { 'if-match': shown.headers.get('etag')! };
    expect((await owner()('PATCH', at(id), { body: {} })).body).toEqual(shown.body);
    const changed = await owner()('PATCH', at(id), { body: { kinds: ['export.failed'], description: null, enabled: false }, headers });
    expect(changed).toMatchObject({ status: 200, body: { kinds: ['export.failed'], enabled: false, disabledReason: null } });
    expect((await owner()('PATCH', at(id), { body: { enabled: true }, headers })).status).toBe(412);
    expect((await owner()('PATCH', at(id), { body: { url: 'http://10.0.0.1/' } })).status).toBe(400);
    expect((await owner()('PATCH', at(id), { body: { url: receiver.url } })).status).toBe(200);
    const unread = await owner()('PATCH', at(id), { body: { url: 'https://name@example.org/' } });
    expect(unread.body.errors).toEqual([
      { path: '/url', message: 'must be a URL such as https://example.org/fieldlake, without a user name, spaces and a #fragment' },
    ]);
    expect((await owner()('POST', at(`${id}/test`))).body.code).toBe('WEBHOOK_DISABLED');
  });

  test('DELETE /api/v1/organizations/{id}/webhooks/{webhookId} ends it', async () => {
    const { id } = await register();
    expect(await owner()('DELETE', at(id))).toMatchObject({ status: 200, body: null });
    expect((await owner()('DELETE', at(id))).body.code).toBe('WEBHOOK_NOT_FOUND');
    await experiment();
    await sleep(300);
    expect(receiver.heard).toEqual([]);
  });

  test('POST /api/v1/organizations/{id}/webhooks/{webhookId}/rotate-secret keeps the old one good for a day', async () => {
    const { id, secret } = await register();
    const rotated = await owner()('POST', at(`${id}/rotate-secret`));
    expect(rotated).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/), oldSecretUntil: expect.any(String) } });
    expect(rotated.body.secret).not.toBe(secret);
    await experiment();
    await receiver.hears(1);
    expect([secret, rotated.body.secret].map((each) => isSignedBy(receiver.heard[0]!, each))).toEqual([true, true]);
    await site.db.run(sql('test')`update webhook_endpoints set old_secret_until = now()`);
    await experiment();
    await receiver.hears(2);
    expect([secret, rotated.body.secret].map((each) => isSignedBy(receiver.heard[1]!, each))).toEqual([false, true]);
  });
});

describe('deliveries', () => {
  test('tell of an experiment from its creation to its deletion, and of nobody else’s', async () => {
    const kinds = ['experiment.created', 'experiment.published', 'experiment.archived', 'experiment.deleted'];
    const { id, secret } = await register({ kinds });
    await owner()('POST', '/api/v1/experiments', { body: { name: 'In a workspace of one’s own' } });
    const experimentId = await experiment('A secret name');
    const path = `/api/v1/experiments/${experimentId}`;
    await owner()('PATCH', `${path}/visibility`, { body: { visibility: 'public' } });
    await owner()('PATCH', `${path}/visibility`, { body: { visibility: 'public' } });
    await owner()('PATCH', path, { body: { status: 'archived' } });
    await owner()('DELETE', path);
    await receiver.hears(4);
    expect(receiver.heard.map(({ body }) => JSON.parse(body))).toEqual(
      kinds.map((type) => ({
        type,
        timestamp: expect.stringMatching(/Z$/),
        data: { organizationId: lab(), experimentId, ...(type === 'experiment.published' ? { by: 'person' } : {}) },
      })),
    );
    for (const heard of receiver.heard) expect(isSignedBy(heard, secret)).toBe(true);
    expect(isSignedBy({ ...receiver.heard[0]!, body: `${receiver.heard[0]!.body} ` }, secret)).toBe(false);
    expect(receiver.heard[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^fieldlake\//),
    });
    const all = await until(
      () => deliveries(id),
      (rows) => rows.every(({ status }: { status: string }) => status === 'delivered'),
    );
    expect(all).toHaveLength(4);
    expect(new Set(all.map((row: { id: string }) => row.id))).toEqual(new Set(receiver.heard.map(({ headers }) => headers['webhook-id'])));
  });

  test('of an embargo that passes say so', async () => {
    await register({ kinds: ['experiment.published'] });
    const experimentId = await experiment();
    const { db } = site;
    await db.run(sql('test')`update resources set public_from = now() where id = ${experimentId}`);
    await embargoJob(await site.context()).run({}, new AbortController().signal);
    await receiver.hears(1);
    expect(JSON.parse(receiver.heard[0]!.body).data).toEqual({ organizationId: lab(), experimentId, by: 'embargo' });
  });

  test('tell how uploads and exports ended', async () => {
    await register({ kinds: ['upload.completed', 'upload.failed', 'export.completed', 'export.failed'] });
    const experimentId = await experiment();
    const file = async (name: string, text: string) => {
      const form = new FormData();
      for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) form.append(field, value);
      form.append('files', new Blob([text]), 'a.csv');
      return (await owner()('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form })).body.uploadId as string;
    };
    const good = await file('good', 'a,b\n1,2\n');
    await receiver.hears(1);
    const bad = await file('bad', '');
    await receiver.hears(2);
    const asked = await owner()('POST', `/api/v1/experiments/${experimentId}/data/exports`, { body: { tableName: 'good', format: 'csv' } });
    const { exportId } = asked.body;
    await receiver.hears(3);
    const told = receiver.heard.map(({ body }) => JSON.parse(body));
    expect(told.map(({ type, data }) => [type, data])).toEqual([
      ['upload.completed', { organizationId: lab(), experimentId, uploadId: good, status: 'completed' }],
      ['upload.failed', { organizationId: lab(), experimentId, uploadId: bad, status: 'failed' }],
      ['export.completed', { organizationId: lab(), experimentId, exportId, format: 'csv', rows: 1, bytes: expect.any(Number) }],
    ]);
  });

  test('are not made for a change that is rolled back', async () => {
    await register({ kinds: ['experiment.archived', 'experiment.created'] });
    const experimentId = await experiment();
    await receiver.hears(1);
    const refused = await owner()('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived', name: ' ' } });
    expect(refused.status).toBe(400);
    await experiment();
    await receiver.hears(2);
    expect(receiver.heard.map(({ body }) => JSON.parse(body).type)).toEqual(['experiment.created', 'experiment.created']);
  });

  test('POST /api/v1/organizations/{id}/webhooks/{webhookId}/test sends one, and its report shows every attempt', async () => {
    const { id, secret } = await register();
    receiver.answer = (response) => response.writeHead(503).end('busy');
    const sent = await owner()('POST', at(`${id}/test`));
    expect(sent.status).toBe(201);
    expect(sent.body).toMatchObject({ kind: 'webhook.test', status: 'pending', attempts: 0, log: [] });
    await receiver.hears(1);
    const failed = await until(
      () => delivery(id, sent.body.id),
      ({ attempts }) => attempts === 1,
    );
    expect(failed).toMatchObject({ status: 'pending', lastStatusCode: 503, lastFailure: 'refused-by-endpoint' });
    expect(new Date(failed.nextAttemptAt).getTime() - new Date(failed.lastAttemptAt).getTime()).toBeGreaterThan(4_000);
    expect(await webhook(id)).toMatchObject({ enabled: true, failures: 1, failingSince: expect.any(String), lastSuccessAt: null });
    receiver.answer = (response) => response.writeHead(200).end();
    await hurry();
    await receiver.hears(2);
    const done = await until(
      () => delivery(id, sent.body.id),
      ({ status }) => status === 'delivered',
    );
    expect(done).toEqual({
      id: sent.body.id,
      kind: 'webhook.test',
      status: 'delivered',
      attempts: 2,
      nextAttemptAt: null,
      lastAttemptAt: expect.any(String),
      lastStatusCode: 200,
      lastFailure: null,
      createdAt: expect.any(String),
      completedAt: expect.any(String),
      payload: receiver.heard[0]!.body,
      log: [
        { at: expect.any(String), statusCode: 503, failure: 'refused-by-endpoint', milliseconds: expect.any(Number) },
        { at: expect.any(String), statusCode: 200, failure: null, milliseconds: expect.any(Number) },
      ],
    });
    expect(receiver.heard.map(({ headers, body }) => [headers['webhook-id'], body])).toEqual(
      [1, 2].map(() => [sent.body.id, done.payload]),
    );
    expect(receiver.heard.every((heard) => isSignedBy(heard, secret))).toBe(true);
    expect(await webhook(id)).toMatchObject({ failures: 0, failingSince: null, lastSuccessAt: expect.any(String) });
  });

  test('POST /api/v1/organizations/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver sends an ended one again', async () => {
    const { id } = await register();
    const sent = (await owner()('POST', at(`${id}/test`))).body;
    await receiver.hears(1);
    await until(
      () => delivery(id, sent.id),
      ({ status }) => status === 'delivered',
    );
    receiver.answer = () => undefined;
    const path = at(`${id}/deliveries/${sent.id}/redeliver`);
    const again = await owner()('POST', path);
    expect(again).toMatchObject({ status: 200, body: { id: sent.id, status: 'pending', attempts: 0 } });
    await receiver.hears(2);
    expect((await owner()('POST', path)).body.code).toBe('WEBHOOK_DELIVERY_PENDING');
    expect(receiver.heard.map(({ headers }) => headers['webhook-id'])).toEqual([sent.id, sent.id]);
    expect((await owner()('POST', at(`${id}/deliveries/${crypto.randomUUID()}/redeliver`))).body.code).toBe('WEBHOOK_DELIVERY_NOT_FOUND');
  });

  test('GET /api/v1/organizations/{id}/webhooks/{webhookId}/deliveries pages and filters them, and old ones are forgotten', async () => {
    const { id } = await register();
    for (let count = 0; count < 3; count += 1) await experiment();
    await receiver.hears(3);
    await until(
      () => deliveries(id, { status: 'delivered' }),
      (rows) => rows.length === 3,
    );
    const page = await owner()('GET', at(`${id}/deliveries`), { query: { pageSize: 2 } });
    expect([page.body.length, page.headers.get('x-total-count')]).toEqual([2, '3']);
    expect(await deliveries(id, { status: 'failed' })).toEqual([]);
    const { db } = site;
    await db.run(sql('test')`update webhook_messages set created_at = now() - interval '31 days' where id = ${page.body[0].id}`);
    await forgetDeliveriesJob(await site.context()).run({}, new AbortController().signal);
    expect((await deliveries(id)).map((row: { id: string }) => row.id)).not.toContain(page.body[0].id);
    expect(await deliveries(id)).toHaveLength(2);
    expect((await owner()('GET', at(`${id}/deliveries/${page.body[0].id}`))).status).toBe(404);
  });
});

describe('an endpoint that does wrong', () => {
  test('hangs, and delays nobody', async () => {
    const healthy = await startReceiver();
    // more of them than there are callers
    receiver.answer = () => undefined;
    const hanging: { id: string }[] = [];
    for (let count = 0; count < 3; count += 1) hanging.push(await register());
    await register({ url: healthy.url });
    const first = await experiment('one');
    await receiver.hears(3);
    const second = await experiment('two');
    await healthy.hears(2);
    // none of the hanging ones was given a second message, or given up
    expect(receiver.heard).toHaveLength(3);
    expect(healthy.heard.map(({ body }) => JSON.parse(body).data.experimentId)).toEqual([first, second]);
    const failed = await until(
      () => webhook(hanging[0]!.id),
      ({ failures }) => failures > 0,
    );
    expect(failed).toMatchObject({ enabled: true });
    expect((await deliveries(hanging[0]!.id)).at(-1)).toMatchObject({ lastFailure: 'timeout', status: 'pending' });
    // while they are tried again and hang again, others are served
    await hurry();
    await receiver.hears(6);
    await experiment('three');
    await healthy.hears(3);
    await healthy.stop();
  });

  test('accepts slowly, and delays nobody', async () => {
    const prompt = await startReceiver();
    const slow: { id: string }[] = [];
    for (let count = 0; count < 8; count += 1) slow.push(await register({ kinds: ['experiment.archived'] }));
    await register({ url: prompt.url });
    const archive = async () => owner()('PATCH', `/api/v1/experiments/${await experiment()}`, { body: { status: 'archived' } });
    receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 1_200);
    await archive();
    for (const { id } of slow)
      await until(
        () => deliveries(id),
        ([last]) => last.status === 'delivered',
      );
    await prompt.hears(1);
    // now they hang until the other one was served
    receiver.answer = () => undefined;
    const before = receiver.heard.length;
    await archive();
    await receiver.hears(before + 1);
    await prompt.hears(2);
    const last = prompt.heard.length;
    await experiment('three');
    await prompt.hears(last + 1);
    expect(receiver.heard.length - before).toBeLessThan(8);
    await prompt.stop();
  });

  test('answers when its claim has run out: whoever has it by then keeps it', async () => {
    const kept = [];
    for (const isTaken of [false, true]) {
      const { id } = await register();
      let settle = () => undefined as unknown;
      receiver.answer = (response) => (settle = () => response.writeHead(204).end());
      const heard = receiver.heard.length;
      await experiment();
      await receiver.hears(heard + 1);
      // another worker has taken it meanwhile
      if (isTaken) await site.db.run(sql('test')`update webhook_endpoints set busy_until = now() + interval '1 hour' where id = ${id}`);
      settle();
      const jobs = () =>
        site.db.rows<{ state: string }>(
          sql('test')`select state from pgboss.job where name = 'webhooks.deliver' and data ->> 'endpointId' = ${id}`,
        );
      await until(jobs, (all) => all.every(({ state }) => state === 'completed'));
      expect((await deliveries(id))[0]).toMatchObject({ status: 'delivered', attempts: 1 });
      kept.push(await site.db.one(sql('test')`select busy_until is not null as "isTaken" from webhook_endpoints where id = ${id}`));
      await owner()('DELETE', at(id));
    }
    expect(kept).toEqual([{ isTaken: false }, { isTaken: true }]);
  });

  test('redirects, and the other place gets nothing', async () => {
    const other = await startReceiver();
    const answers = ['http://169.254.169.254/latest/meta-data/', other.url];
    const { id } = await register();
    for (const location of answers) {
      receiver.answer = (response) => response.writeHead(302, { location }).end();
      const { body } = await owner()('POST', at(`${id}/test`));
      await hurry();
      const tried = await until(
        () => delivery(id, body.id),
        ({ attempts }) => attempts > 0,
      );
      expect(tried).toMatchObject({ status: 'pending', lastStatusCode: 302, lastFailure: 'redirect-refused' });
    }
    expect(other.heard).toEqual([]);
    await other.stop();
  });

  test('says 410, and is disabled until somebody enables it', async () => {
    const { id } = await register();
    receiver.answer = (response) => response.writeHead(410).end();
    await experiment();
    const disabled = await until(
      () => webhook(id),
      ({ enabled }) => !enabled,
    );
    expect(disabled.disabledReason).toContain('410');
    expect((await deliveries(id))[0]).toMatchObject({ status: 'failed' });
    receiver.answer = (response) => response.writeHead(200).end();
    await experiment();
    expect(await deliveries(id)).toHaveLength(1);
    const enabled = await owner()('PATCH', at(id), { body: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true, failures: 0, disabledReason: null });
    await experiment();
    await receiver.hears(2);
    const audit = (await owner()('GET', `/api/v1/organizations/${lab()}/audit`)).body;
    expect(audit.map(({ action }: { action: string }) => action)).toContain('webhook.disabled');
  });

  test('is disabled during a call, which ends the message that was sent as it ends those that wait', async () => {
    const outcomes = [];
    for (const enabled of [true, false]) {
      const { id } = await register();
      let fail = () => undefined as unknown;
      receiver.answer = (response) => (fail = () => response.writeHead(500).end());
      const heard = receiver.heard.length;
      await experiment();
      await receiver.hears(heard + 1);
      expect((await owner()('PATCH', at(id), { body: { enabled } })).status).toBe(200);
      fail();
      const [ended] = await until(
        () => deliveries(id),
        ([row]) => row.attempts === 1,
      );
      outcomes.push([ended.status, ended.nextAttemptAt === null]);
      await owner()('DELETE', at(id));
    }
    expect(outcomes).toEqual([
      ['pending', false],
      ['failed', true],
    ]);
  });

  test('says 410 at an address that was replaced during the call: the message goes to the new one', async () => {
    const other = await startReceiver();
    const { id } = await register();
    let fail = () => undefined as unknown;
    receiver.answer = (response) => (fail = () => response.writeHead(410).end());
    await experiment();
    await receiver.hears(1);
    expect((await owner()('PATCH', at(id), { body: { url: other.url } })).status).toBe(200);
    fail();
    const [ended] = await until(
      () => deliveries(id),
      ([row]) => row.status !== 'pending',
    );
    expect(ended).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(other.heard).toHaveLength(1);
    expect(await webhook(id)).toMatchObject({ enabled: true, failures: 0, disabledReason: null });
    await other.stop();
  });

  test('fails for days, and is disabled; a message has failed after its last try', async () => {
    const { id } = await register();
    receiver.answer = (response) => response.writeHead(500).end();
    const { body: sent } = await owner()('POST', at(`${id}/test`));
    const { db } = site;
    const context = await site.context();
    const failed = await until(
      async () => {
        await hurry();
        await wakeEndpoints(context);
        return delivery(id, sent.id);
      },
      ({ status }) => status !== 'pending',
    );
    expect(failed).toMatchObject({ status: 'failed', attempts: 9, nextAttemptAt: null });
    expect(await webhook(id)).toMatchObject({ enabled: true, failures: 9 });
    await db.run(sql('test')`update webhook_endpoints set failing_since = now() - interval '4 days'`);
    await experiment();
    await hurry();
    const disabled = await until(
      () => webhook(id),
      ({ enabled }) => !enabled,
    );
    expect(disabled.disabledReason).toContain('three days');
  });

  test('with 10,000 messages waiting has further ones in its log, to be sent by hand', async () => {
    const { id } = await register();
    const wait = (count: number) =>
      site.db.run(sql('test')`
        insert into webhook_messages (id, endpoint_id, kind, payload, created_at, next_attempt_at)
        select gen_random_uuid(), ${id}, 'experiment.created', '{}', now() - interval '1 hour', now() + interval '1 day' from generate_series(1, ${count}::integer)`);
    await wait(9_999);
    await experiment('The last that is kept');
    const [kept] = await until(
      () => deliveries(id, { status: 'delivered' }),
      ({ length }) => length > 0,
    );
    expect(kept.lastFailure).toBeNull();
    await wait(1);
    const experimentId = await experiment('One too many');
    const [dropped, ...more] = await deliveries(id, { status: 'failed' });
    expect(more).toEqual([]);
    expect(dropped).toMatchObject({ kind: 'experiment.created', attempts: 0, nextAttemptAt: null, lastFailure: 'queue-full' });
    expect(receiver.heard).toHaveLength(1);
    expect((await owner()('POST', at(`${id}/deliveries/${dropped.id}/redeliver`))).status).toBe(200);
    await until(
      () => delivery(id, dropped.id),
      ({ status }) => status === 'delivered',
    );
    expect(JSON.parse(receiver.heard[1]!.body).data).toMatchObject({ experimentId });
  });

  test('whose secret was sealed under a former secret of the service is sent nothing until it has a new one', async () => {
    const { id } = await register();
    await experiment();
    await until(
      () => deliveries(id),
      ([first]) => first?.status === 'delivered',
    );
    const sealed = seal(randomBytes(32), 'webhook', { secret: 'whsec_b25jZQ==' });
    await site.db.run(sql('test')`update webhook_endpoints set secret = ${sealed}, old_secret = null where id = ${id}`);
    const sent = (await owner()('POST', at(`${id}/test`))).body;
    const tried = await until(
      () => delivery(id, sent.id),
      ({ attempts }) => attempts > 0,
    );
    expect(tried).toMatchObject({ status: 'pending', lastStatusCode: null, lastFailure: 'secret-lost' });
    expect(receiver.heard).toHaveLength(1);
    const { secret } = (await owner()('POST', at(`${id}/rotate-secret`))).body;
    await hurry();
    await wakeEndpoints(await site.context());
    await until(
      () => delivery(id, sent.id),
      ({ status }) => status === 'delivered',
    );
    expect(isSignedBy(receiver.heard[1]!, secret)).toBe(true);
  });
});

test('where this machine may not be called, names that mean it get nothing', async () => {
  const strict = await startTestServer();
  const call = strict.as(strict.cast.owner);
  const path = `/api/v1/organizations/${strict.cast.leafLab}/webhooks`;
  const refused = await call('POST', path, { body: { url: receiver.url, kinds: ['experiment.created'] } });
  expect(refused.status).toBe(400);
  // the name is only known to be wrong when it is resolved
  const url = `https://localhost:${receiver.port}/`;
  const made = await call('POST', path, { body: { url, kinds: ['experiment.created'] } });
  expect(made.status).toBe(201);
  let connections = 0;
  receiver.connected = () => (connections += 1);
  const sent = (await call('POST', `${path}/${made.body.id}/test`)).body;
  const tried = await until(
    async () => (await call('GET', `${path}/${made.body.id}/deliveries/${sent.id}`)).body,
    ({ attempts }) => attempts > 0,
  );
  expect(tried).toMatchObject({ lastStatusCode: null, lastFailure: 'address-refused' });
  expect(connections).toBe(0);
  await fetch(receiver.url, { method: 'POST' });
  expect(connections).toBe(1);
  await strict.stop();
});
