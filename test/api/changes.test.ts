import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiKey, revokeKey } from '../../src/api/credentials/credentials.service.ts';
import { noteWithheld } from '../../src/api/macro-runs/macro-runs.queries.ts';
import { putPresence } from '../../src/api/messages/measurements.queries.ts';
import { startSession } from '../../src/auth/sessions.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant, type Person } from '../support/cast.ts';
import { listen, type Heard, type Listener } from '../support/listeners.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
  owner = site.as(site.cast.owner);
});
const open: Listener[] = [];
afterAll(async () => {
  for (const listener of open) listener.close();
  await site.stop();
});

const pathOf = (experimentId: string) => `/api/v1/experiments/${experimentId}/changes`;

function listenWith(experimentId: string, headers: Record<string, string>): Listener {
  const listener = listen(site.server.baseUrl + pathOf(experimentId), headers);
  open.push(listener);
  return listener;
}

/** Listens as a person, and waits until nothing is missed from here on. */
async function listenAs(person: Person, experimentId: string): Promise<Listener> {
  const listener = listenWith(experimentId, { 'x-api-key': person.apiKey });
  await listener.until(({ kind }) => kind === 'reset');
  return listener;
}

async function make(path: string, body: object, call = owner): Promise<Record<string, any>> {
  const answer = await call('POST', path, { body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body as Record<string, any>;
}

async function makeExperiment(more: object = {}): Promise<string> {
  return String((await make('/api/v1/experiments', { name: 'Changes', organizationId: site.cast.leafLab, ...more }))['id']);
}

const makeMacro = async () =>
  String(
    (
      await make('/api/v1/macros', {
        name: `m ${randomUUID()}`,
        language: 'javascript',
        code: 'return { twice: json.x * 2 };',
        organizationId: site.cast.leafLab,
      })
    )['id'],
  );

const send = (experimentId: string, message: object, userId = site.cast.owner.id) =>
  storeMessages(site.db, [{ experimentId, userId, body: Buffer.from(JSON.stringify(message)) }]);

const is =
  (kind: string, data: object) =>
  (event: Heard): boolean =>
    event.kind === kind && Object.entries(data).every(([name, value]) => event.data[name] === value);

/** What every reader is told: ends the wait of those who are told nothing else. */
async function tellAll(experimentId: string): Promise<string> {
  const macroId = await makeMacro();
  await send(experimentId, { timestamp: '2026-05-01T10:00:00Z', device_id: 'd', sample: { x: 1 }, macros: [macroId] });
  return macroId;
}

async function makeDevice(experimentId: string): Promise<{ id: string; thingName: string }> {
  const { id, thingName } = await make('/api/v1/devices', {
    serialNumber: `CH-${randomUUID()}`,
    deviceType: 'multispeq',
    organizationId: site.cast.leafLab,
  });
  await make(`/api/v1/devices/${String(id)}/credentials`, {});
  const onboarded = await owner('POST', `/api/v1/devices/${String(id)}/onboard`, { body: { experimentIds: [experimentId] } });
  expect(onboarded.status, onboarded.text).toBeLessThan(300);
  return { id: String(id), thingName: String(thingName) };
}

const revoke = async (deviceId: string) => expect((await owner('DELETE', `/api/v1/devices/${deviceId}/credentials`)).status).toBe(200);

const connect = (thingName: string, session: string) =>
  putPresence(site.db, {
    ...{ id: randomUUID(), thingName, eventType: 'connected', at: new Date(), reason: null, session, broker: 'test' },
  });

const makeExport = async (experimentId: string, tableName: string) =>
  String((await make(`/api/v1/experiments/${experimentId}/data/exports`, { tableName, format: 'csv' }))['exportId']);

// most of each is waiting, and each has an experiment of its own
describe.concurrent('what is told', () => {
  test('uploads, versions of tables, exports and their ends', async () => {
    const id = await makeExperiment();
    const listener = await listenAs(site.cast.owner, id);
    expect(listener.heard).toEqual([{ kind: 'reset', id: expect.any(String), data: { reason: 'begun' } }]);
    const tableId = await uploadTable(owner, id, 'leaves', 'n\n1\n2\n');
    const version = await listener.until(is('table', { identifier: tableId }));
    const { body } = await owner('GET', `/api/v1/experiments/${id}/tables`);
    const described = body.find(({ identifier }: { identifier: string }) => identifier === tableId);
    expect(version.data).toEqual({ identifier: tableId, version: described.version, totalRows: 2 });
    await listener.until(is('upload', { status: 'completed' }));
    const uploads = listener.of('upload');
    expect(uploads.map(({ status }) => status)).toEqual(['pending', 'running', 'completed']);
    expect(uploads[0]).toEqual({ uploadId: expect.any(String), status: 'pending', uploadTableId: tableId });
    await appendTo(owner, id, tableId, 'n\n3\n');
    await listener.until(is('table', { totalRows: 3 }));

    const exportId = await makeExport(id, 'leaves');
    await listener.until(is('export', { exportId, status: 'completed' }));
    expect((await owner('DELETE', `/api/v1/experiments/${id}/data/exports/${exportId}`)).status).toBe(200);
    await listener.until(is('export', { exportId, status: 'removed' }));
    expect(listener.of('export')).toEqual(
      ['queued', 'running', 'completed', 'removed'].map((status) => ({ exportId, status, identifier: tableId })),
    );
    expect((await owner('DELETE', `/api/v1/experiments/${id}/data/tables/${tableId}`)).status).toBe(200);
    await listener.until(is('table', { identifier: tableId, version: null, totalRows: null }));
    expect(new Set(listener.heard.map((event) => event.id)).size).toBe(listener.heard.length);
  });

  test('measurements, their macros and runs of these', async () => {
    const id = await makeExperiment();
    const listener = await listenAs(site.cast.owner, id);
    const macroId = await tellAll(id);
    await listener.until(is('table', { identifier: 'raw_data', version: 1, totalRows: 1 }));
    await listener.until(is('table', { identifier: macroId, version: 1, totalRows: 1 }));
    const run = await make(`/api/v1/experiments/${id}/data/macros/${macroId}/reprocess`, {});
    await listener.until(is('macroRun', { id: run['id'], status: 'completed' }));
    expect(listener.of('macroRun')).toEqual(['queued', 'running', 'completed'].map((status) => ({ id: run['id'], macroId, status })));
  });

  test('the status of a device, and whether it is connected', async () => {
    const id = await makeExperiment();
    const device = await makeDevice(id);
    const listener = await listenAs(site.cast.owner, id);
    await connect(device.thingName, 's1');
    await listener.until(is('device', { connected: true }));
    await revoke(device.id);
    await listener.until(is('device', { status: 'revoked' }));
    expect(listener.of('device')).toEqual([
      { deviceId: device.id, connected: true },
      { deviceId: device.id, status: 'revoked' },
    ]);
  });

  test('nothing of another experiment', async () => {
    const [one, other] = [await makeExperiment(), await makeExperiment()];
    const [ofOne, ofOther] = [await listenAs(site.cast.owner, one), await listenAs(site.cast.owner, other)];
    const macroId = await tellAll(one);
    await ofOne.until(is('table', { identifier: macroId }));
    await tellAll(other);
    await ofOther.until(is('table', { identifier: 'raw_data' }));
    expect(JSON.stringify(ofOther.heard)).not.toContain(macroId);
  });
});

describe.concurrent('who is told', () => {
  test('who may read the experiment may listen, and nobody else', async () => {
    const id = await makeExperiment();
    const asked = async (call: Call) => {
      const { status, text } = await call('GET', pathOf(id));
      return [status, status === 200 ? text.slice(0, 6) : (JSON.parse(text) as { code: string }).code];
    };
    expect(await asked(owner)).toEqual([200, 'retry:']);
    expect(await asked(site.as(site.cast.stranger))).toEqual([403, 'ACTION_DENIED']);
    expect(await asked(site.as(null))).toEqual([401, 'UNAUTHORIZED']);
    expect((await owner('GET', pathOf(randomUUID()))).status).toBe(404);
    expect((await owner('GET', pathOf('nonsense'))).body.code).toBe('INVALID_ID');
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.stranger.id }, 'viewer');
    expect(await asked(site.as(site.cast.stranger))).toEqual([200, 'retry:']);
  });

  test('who reads what is public hears of what they can read alone', async () => {
    const id = await makeExperiment({ visibility: 'public' });
    const device = await makeDevice(id);
    const [viewer, stranger] = [await listenAs(site.cast.member, id), await listenAs(site.cast.stranger, id)];
    const tableId = await uploadTable(owner, id, 'leaves', 'n\n1\n');
    const exportId = await makeExport(id, 'leaves');
    await viewer.until(is('export', { exportId, status: 'completed' }));
    await revoke(device.id);
    const macroId = await tellAll(id);
    const ofMacro = (listener: Listener) => listener.until(is('table', { identifier: macroId }));
    await Promise.all([ofMacro(viewer), ofMacro(stranger)]);
    const open = await makeExport(id, macroId);
    const done = is('export', { exportId: open, status: 'completed' });
    await Promise.all([viewer.until(done), stranger.until(done)]);
    const subjects = (listener: Listener) =>
      new Set(listener.heard.map(({ kind, data }) => `${kind} ${String(data['identifier'] ?? data['uploadTableId'] ?? data['deviceId'])}`));
    expect(subjects(stranger)).toEqual(new Set(['reset undefined', 'table device', `table ${macroId}`, `export ${macroId}`]));
    expect(subjects(viewer)).toEqual(
      new Set([
        ...[
          'reset undefined',
          `upload ${tableId}`,
          `table ${tableId}`,
          `export ${tableId}`,
          `device ${device.id}`,
          'table raw_data',
          'table device',
        ],
        ...[`table ${macroId}`, `export ${macroId}`],
      ]),
    );
    // what they were told and not told is what a read answers and refuses
    const asked = (name: string) => site.as(site.cast.stranger)('GET', `/api/v1/experiments/${id}/data?tableName=${name}`);
    expect([(await asked(macroId)).status, (await asked('leaves')).status]).toEqual([200, 403]);
  });

  test('macros that wait are told to who manages the experiment', async () => {
    const id = await makeExperiment();
    const [manager, member] = [await listenAs(site.cast.admin, id), await listenAs(site.cast.member, id)];
    const waiting = await makeMacro();
    await site.db.transaction((tx) => noteWithheld(tx, { experimentId: id, macroId: waiting, measurements: 3 }));
    await manager.until(is('table', { identifier: waiting, version: 0, totalRows: 0 }));
    const later = await tellAll(id);
    await member.until(is('table', { identifier: later }));
    expect(JSON.stringify(member.heard)).not.toContain(waiting);
  });

  test('whether a device is connected is told to who may read the device', async () => {
    const id = await makeExperiment();
    const { viewer } = site.cast;
    await grant(site.db, { id, type: 'experiment' }, { user: viewer.id }, 'viewer');
    const device = await makeDevice(id);
    const [reader, listener] = [await listenAs(site.cast.member, id), await listenAs(viewer, id)];
    await connect(device.thingName, 's1');
    await reader.until(is('device', { connected: true }));
    await revoke(device.id);
    await listener.until(is('device', { status: 'revoked' }));
    expect(listener.of('device')).toEqual([{ deviceId: device.id, status: 'revoked' }]);
    await grant(site.db, { id: device.id, type: 'device' }, { user: viewer.id }, 'viewer');
    await putPresence(site.db, {
      ...{
        id: randomUUID(),
        thingName: device.thingName,
        eventType: 'disconnected',
        at: new Date(),
        reason: null,
        session: 's1',
        broker: 'test',
      },
    });
    await listener.until(is('device', { deviceId: device.id, connected: false }));
  });
});

describe.concurrent('a stream ends', () => {
  /** Ways to lose what a listener stands on: each listens with what it answers, and is then taken away. */
  const ways: Record<string, (id: string) => Promise<{ headers: Record<string, string>; end: () => Promise<unknown>; refused: number }>> = {
    'with the grant': async (id) => {
      const { viewer } = site.cast;
      await grant(site.db, { id, type: 'experiment' }, { user: viewer.id }, 'viewer');
      const end = () => site.db.run(sql('test')`delete from grants where resource_id = ${id} and user_id = ${viewer.id}`);
      return { headers: { 'x-api-key': viewer.apiKey }, end, refused: 403 };
    },
    'with the key': async () => {
      const { key } = await createApiKey(site.db, { userId: site.cast.owner.id, name: 'doomed', rateLimit: 1_000 });
      return { headers: { 'x-api-key': key }, end: () => revokeKey(site.db, key), refused: 401 };
    },
    'with the session': async () => {
      const { token } = await startSession(site.db, { userId: site.cast.owner.id, method: 'email', ipAddress: null, userAgent: null });
      const headers = { cookie: `fieldlake.session_token=${token}`, origin: site.server.baseUrl };
      const end = async () =>
        expect((await fetch(`${site.server.baseUrl}/api/v1/auth/sign-out`, { method: 'POST', headers })).status).toBe(200);
      return { headers, end, refused: 401 };
    },
    'with the visibility': async (id) => {
      const say = (visibility: string) => owner('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility } });
      expect((await say('public')).status).toBe(200);
      const end = () => site.db.run(sql('test')`update resources set visibility = 'private', public_from = null where id = ${id}`);
      return { headers: { 'x-api-key': site.cast.stranger.apiKey }, end, refused: 403 };
    },
    'with the experiment': async (id) => ({
      headers: { 'x-api-key': site.cast.member.apiKey },
      end: async () => expect((await owner('DELETE', `/api/v1/experiments/${id}`)).status).toBe(200),
      refused: 404,
    }),
  };

  test.each(Object.keys(ways))('%s, within seconds though nothing happens', async (name) => {
    const id = await makeExperiment();
    const { headers, end, refused } = await ways[name]!(id);
    const listener = listenWith(id, headers);
    await listener.until(({ kind }) => kind === 'reset');
    await end();
    await listener.refused(13_000);
    expect(listener.refusals).toEqual([refused]);
  });

  test('before the next event is told', async () => {
    const id = await makeExperiment();
    const { viewer } = site.cast;
    await grant(site.db, { id, type: 'experiment' }, { user: viewer.id }, 'viewer');
    const [kept, lost] = [await listenAs(site.cast.owner, id), await listenAs(viewer, id)];
    const before = await tellAll(id);
    await Promise.all([kept, lost].map((listener) => listener.until(is('table', { identifier: before }))));
    await site.db.run(sql('test')`delete from grants where resource_id = ${id} and user_id = ${viewer.id}`);
    const after = await tellAll(id);
    await kept.until(is('table', { identifier: after }));
    await lost.refused();
    expect(lost.refusals).toEqual([403]);
    expect(JSON.stringify(lost.heard)).not.toContain(after);
  });

  test('not when an experiment is archived: it is read as before', async () => {
    const id = await makeExperiment();
    const listener = await listenAs(site.cast.member, id);
    expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).status).toBe(200);
    await sleep(6_000);
    const macroId = await makeMacro();
    await send(id, { timestamp: '2026-05-01T10:00:00Z', device_id: 'd', sample: { x: 1 }, macros: [macroId] });
    expect((await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}`)).status).toBe(200);
    expect(listener.refusals).toEqual([]);
    expect(listener.begun()).toBe(1);
  });
});

describe('an id to go on from', () => {
  const first = async (experimentId: string, lastEventId: string): Promise<string> => {
    const leaving = new AbortController();
    const response = await fetch(site.server.baseUrl + pathOf(experimentId), {
      headers: { 'x-api-key': site.cast.owner.apiKey, 'last-event-id': lastEventId },
      signal: leaving.signal,
    });
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes('data:')) break;
    }
    leaving.abort();
    return text;
  };
  const note = (experimentId: string, count: number) =>
    site.db.run(sql('test')`
      insert into changes (experiment_id, kind, audience, data)
      select ${experimentId}, 'table', 'read', jsonb_build_object('identifier', 'noted', 'version', n, 'totalRows', n) from generate_series(1, ${count}) n`);

  test('is gone on from while what follows is kept, and else the stream says that it is not', async () => {
    const id = await makeExperiment();
    const listener = await listenAs(site.cast.owner, id);
    const begun = listener.heard[0]!.id;
    await note(id, 200);
    await listener.until(is('table', { version: 200 }));
    expect(await first(id, begun)).toMatch(/event: table\nid: \S+\ndata: \{.*"version": 1,/);
    const behind = listener.heard.find(is('table', { version: 199 }))!.id;
    expect(await first(id, behind)).toMatch(/^retry: \d+\n\nevent: table\nid: \S+\ndata: \{.*"version": 200,/);
    // one more than is told one by one
    await note(id, 1);
    await listener.until(() => listener.of('table').length > 200);
    expect(await first(id, begun)).toMatch(/event: reset\nid: \S+\ndata: \{"reason":"behind"\}/);

    const [epoch = '', xid = '', n = '', at = ''] = begun.split('.');
    const forgotten = [
      ...[[epoch, xid, n, Number(at) - 86_400].join('.'), ['00000000', xid, n, at].join('.')],
      ...[[epoch, String(BigInt(xid) + 1_000_000n), n, at].join('.'), 'nonsense', '9'.repeat(4_000), "';select"],
      `${epoch}.${'9'.repeat(20)}.${n}.${at}`,
    ];
    for (const text of forgotten) expect([text, await first(id, text)]).toEqual([text, expect.stringContaining('{"reason":"forgotten"}')]);
  });

  test('means nothing in another course of transactions, which who listens is told', async () => {
    const id = await makeExperiment();
    const listener = await listenAs(site.cast.owner, id);
    const before = listener.heard[0]!.id;
    // as Postgres leaves it after a crash
    await site.db.run(sql('test')`delete from change_epoch`);
    await listener.until(({ data }) => data['reason'] === 'forgotten');
    expect(await first(id, before)).toContain('"forgotten"');
    await note(id, 1);
    await listener.until(is('table', { version: 1 }));
    expect(listener.begun()).toBe(1);
  });

  test('what is older than it can be gone on from is forgotten', async () => {
    const id = await makeExperiment();
    await note(id, 2);
    await site.db.run(
      sql('test')`update changes set at = now() - interval '26 hours' where experiment_id = ${id} and data ->> 'version' = '1'`,
    );
    const ctx = await site.context();
    await ctx.jobs.enqueue('changes.forget', {});
    const left = () =>
      site.db.rows<{ version: string }>(sql('test')`select data ->> 'version' as version from changes where experiment_id = ${id}`);
    await expect.poll(left).toEqual([{ version: '2' }]);
  });
});
