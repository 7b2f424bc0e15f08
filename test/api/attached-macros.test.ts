import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pickMacros } from '../../src/api/macro-runs/attached.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

async function make(path: string, body: object, as = owner): Promise<string> {
  const made = await as('POST', `/api/v1/${path}`, { body: { name: `n ${randomUUID()}`, ...body } });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const lab = () => ({ organizationId: site.cast.leafLab });
const makeMacro = (code: string, more: object = lab(), as = owner) => make('macros', { language: 'javascript', code, ...more }, as);
const makeProtocol = (more: object = lab(), as = owner) => make('protocols', { code: [{ a: 1 }], family: 'multispeq', ...more }, as);

async function send(experimentId: string, messages: readonly object[], userId = site.cast.owner.id, protocolId: string | null = null) {
  const sent = messages.map((message) => ({ experimentId, userId, protocolId, body: Buffer.from(JSON.stringify(message)) }));
  await storeMessages(site.db, sent);
  await settle(experimentId);
}

const settle = (experimentId: string) =>
  vi.waitFor(
    async () => {
      const row = await site.db.one<{ left: number }>(sql('test')`
      select (select count(*) from messages where experiment_id = ${experimentId} and status = 'pending')
        + (select count(*) from macro_work where experiment_id = ${experimentId})
        + (select count(*) from macro_reprocesses where experiment_id = ${experimentId} and status <> 'completed') as left`);
      expect(row?.left).toBe(0);
    },
    { timeout: 20_000, interval: 50 },
  );

const measured = (x: number, more: object = {}) => ({
  timestamp: new Date(Date.UTC(2026, 4, 1, 10, x)).toISOString(),
  device_id: 'd',
  sample: { x },
  ...more,
});

/** The values of `y` in a macro's table, by time; empty where there is no table. */
async function valuesOf(experimentId: string, macroId: string): Promise<unknown[]> {
  const { status, body } = await owner('GET', `/api/v1/experiments/${experimentId}/data`, {
    query: { tableName: macroId, columns: 'y', orderBy: 'timestamp', orderDirection: 'ASC' },
  });
  if (status === 404) return [];
  expect(status, JSON.stringify(body)).toBe(200);
  return body[0].data.rows.map(({ y }: { y: unknown }) => y);
}

const protocolCell = (protocolId: string) => ({ id: `p${protocolId}`, type: 'protocol', payload: { protocolId, version: 1 } });
const macroCell = (macroId: string) => ({ id: `m${macroId}`, type: 'macro', payload: { macroId, language: 'javascript' } });

// most of each is waiting, and each has an experiment of its own
describe.concurrent('macros of a workbook', () => {
  test('are those between a protocol and the next, or all where the protocol is another', () => {
    const steps = [
      ['macro', 'm0'],
      ['protocol', 'p1'],
      ['macro', 'm1'],
      ['macro', 'm2'],
      ['protocol', 'p2'],
      ['macro', 'm1'],
      ['protocol', 'p1'],
      ['macro', 'm3'],
    ] as const;
    expect(pickMacros(steps, 'p1')).toEqual(['m1', 'm2', 'm3']);
    expect(pickMacros(steps, 'p2')).toEqual(['m1']);
    expect(pickMacros(steps, 'p9')).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(pickMacros(steps, null)).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(pickMacros([], 'p1')).toEqual([]);
    expect(
      pickMacros(
        Array.from({ length: 30 }, (_, n) => ['macro', `m${n}`] as const),
        null,
      ),
    ).toHaveLength(20);
  });

  test('run on new measurements that name none, as the attached version keeps them', async () => {
    const experimentId = await make('experiments', lab());
    const [p1, p2] = [await makeProtocol(), await makeProtocol()];
    const [first, second, named] = [
      await makeMacro('return { y: json.x };'),
      await makeMacro('return { y: -json.x };'),
      await makeMacro('return { y: "named" };'),
    ];
    await send(experimentId, [measured(0)]);
    expect(await valuesOf(experimentId, first)).toEqual([]);
    const workbookId = await make('workbooks', {
      ...lab(),
      cells: [protocolCell(p1), macroCell(first), protocolCell(p2), macroCell(second)],
    });
    const attach = await owner('POST', `/api/v1/experiments/${experimentId}/workbook/attach`, { body: { workbookId } });
    expect(attach.status, attach.text).toBe(200);
    // what the macro becomes after the version was made does not run
    expect((await owner('PUT', `/api/v1/macros/${first}`, { body: { code: 'return { y: json.x * 100 };' } })).status).toBe(200);

    await send(experimentId, [
      measured(1, { protocol_id: p1 }),
      measured(2, { protocol_id: p2.toUpperCase() }),
      measured(3),
      measured(4, { macros: [named] }),
      measured(5, { macros: [{ id: first, output: { y: 'brought' } }] }),
      measured(6, { sample: [{ x: 6 }, { x: 7 }], protocol_id: p2 }),
    ]);
    expect(await valuesOf(experimentId, first)).toEqual([1, 3, 'brought'].map(String));
    expect((await valuesOf(experimentId, second)).map(Number)).toEqual([-2, -3, -6, -7]);
    expect(await valuesOf(experimentId, named)).toEqual(['named']);

    // running it again finds the measurements by their results, with the code as it is
    expect((await owner('POST', `/api/v1/experiments/${experimentId}/data/macros/${first}/reprocess`, { body: {} })).status).toBe(201);
    await settle(experimentId);
    expect(await valuesOf(experimentId, first)).toEqual([100, 300, 'brought'].map(String));

    expect((await owner('POST', `/api/v1/experiments/${experimentId}/workbook/detach`)).status).toBe(200);
    await send(experimentId, [measured(8)]);
    expect(await valuesOf(experimentId, second)).toHaveLength(4);
    // a measurement may say the version itself, for who may read it
    await send(experimentId, [measured(9, { workbook_version_id: attach.body.workbookVersionId })]);
    expect((await valuesOf(experimentId, second)).map(Number)).toEqual([-2, -3, -6, -7, -9]);
    const other = await make('experiments', lab());
    await grant(site.db, { id: other, type: 'experiment' }, { user: site.cast.stranger.id }, 'viewer');
    const saying = (n: number) => [measured(n, { workbook_version_id: attach.body.workbookVersionId })];
    await send(other, saying(10));
    await send(other, saying(11), site.cast.stranger.id);
    expect((await valuesOf(other, second)).map(Number)).toEqual([-10]);
  });
});

describe.concurrent('macros of a protocol', () => {
  const link = (as: Call, protocolId: string, macroId: string) =>
    as('POST', `/api/v1/protocols/${protocolId}/macros`, { body: { macroIds: [macroId] } });

  test('run on new measurements of the protocol that name none, as they are, until they are unlinked', async () => {
    const experimentId = await make('experiments', lab());
    const protocolId = await makeProtocol();
    const macroId = await makeMacro('return { y: json.x };');
    expect((await link(owner, protocolId, macroId)).status).toBe(201);
    await send(experimentId, [measured(1, { protocol_id: protocolId }), measured(2), measured(3, { protocol_id: 'mine' })]);
    // the topic's protocol beats the payload's
    await send(experimentId, [measured(4)], site.cast.owner.id, protocolId);
    expect((await valuesOf(experimentId, macroId)).map(Number)).toEqual([1, 4]);
    expect((await owner('DELETE', `/api/v1/protocols/${protocolId}/macros/${macroId}`)).status).toBeLessThan(300);
    await send(experimentId, [measured(5, { protocol_id: protocolId })]);
    expect((await valuesOf(experimentId, macroId)).map(Number)).toEqual([1, 4]);
  });

  test('that only the author of the macro has linked do not run on measurements of others', async () => {
    const stranger = site.as(site.cast.stranger);
    const experimentId = await make('experiments', lab());
    const protocolId = await makeProtocol({ ...lab(), visibility: 'public' });
    const theirs = await makeMacro('return { y: json.x };', { visibility: 'public' }, stranger);
    const linked = await stranger('POST', `/api/v1/macros/${theirs}/protocols`, { body: { protocolIds: [protocolId] } });
    expect(linked.status, linked.text).toBe(201);
    await send(experimentId, [measured(1, { protocol_id: protocolId })]);
    expect(await valuesOf(experimentId, theirs)).toEqual([]);
    // the same link by who may edit the protocol does
    expect((await owner('DELETE', `/api/v1/protocols/${protocolId}/macros/${theirs}`)).status).toBeLessThan(300);
    expect((await link(owner, protocolId, theirs)).status).toBe(201);
    await send(experimentId, [measured(2, { protocol_id: protocolId })]);
    expect((await valuesOf(experimentId, theirs)).map(Number)).toEqual([2]);
  });

  test('that the sender may not read are withheld, as those that a measurement names', async () => {
    const experimentId = await make('experiments', lab());
    const protocolId = await makeProtocol();
    const macroId = await makeMacro('return { y: json.x };');
    expect((await link(owner, protocolId, macroId)).status).toBe(201);
    await grant(site.db, { id: experimentId, type: 'experiment' }, { user: site.cast.stranger.id }, 'viewer');
    await send(experimentId, [measured(1, { protocol_id: protocolId })], site.cast.stranger.id);
    expect(await valuesOf(experimentId, macroId)).toEqual([]);
    const { body: tables } = await owner('GET', `/api/v1/experiments/${experimentId}/tables`);
    expect(tables.find(({ identifier }: { identifier: string }) => identifier === macroId)).toMatchObject({
      withheld: { measurements: 1 },
    });
  });
});
