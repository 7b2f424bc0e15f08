import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { insertReprocess, insertWork, noteWithheld, startReprocess } from '../../src/api/macro-runs/macro-runs.queries.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant } from '../support/cast.ts';
import { dataFilesOf } from '../support/lake-files.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let test$: TestServer;
let owner: Call;
beforeAll(async () => {
  test$ = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
  owner = test$.as(test$.cast.owner);
});
afterAll(() => test$.stop());

async function makeExperiment(): Promise<string> {
  const { status, body } = await owner('POST', '/api/v1/experiments', { body: { name: 'Macros', organizationId: test$.cast.leafLab } });
  expect(status).toBe(201);
  return body.id;
}

async function makeMacro(code: string, more: object = {}, as = owner): Promise<string> {
  const { status, body } = await as('POST', '/api/v1/macros', {
    body: { name: `m ${randomUUID()}`, language: 'javascript', code, organizationId: test$.cast.leafLab, ...more },
  });
  expect(status).toBe(201);
  return body.id;
}

const minute = (n: number) => new Date(Date.UTC(2026, 4, 1, 10, n)).toISOString();

const send = (
  experimentId: string,
  messages: readonly object[],
  sender: { userId?: string; clientId?: string } = { userId: test$.cast.owner.id },
) =>
  storeMessages(
    test$.db,
    messages.map((message) => ({ experimentId, ...sender, body: Buffer.from(JSON.stringify(message)) })),
  );

async function settled(experimentId: string): Promise<void> {
  const { db } = test$;
  for (let tries = 0; tries < 1_200; tries += 1) {
    const row = await db.one<{ left: number }>(sql(
      'test',
    )`select (select count(*) from messages where experiment_id = ${experimentId} and status = 'pending')
      + (select count(*) from macro_work where experiment_id = ${experimentId})
      + (select count(*) from macro_reprocesses where experiment_id = ${experimentId} and status <> 'completed') as left`);
    if (row?.left === 0) return;
    await sleep(50);
  }
  throw new Error('the macros were not run');
}

async function rowsOf(
  experimentId: string,
  tableName: string,
  query: Record<string, string | number> = {},
): Promise<Record<string, any>[]> {
  const { status, body } = await owner('GET', `/api/v1/experiments/${experimentId}/data`, {
    query: { tableName, orderBy: 'timestamp', orderDirection: 'ASC', ...query },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body[0].data.rows;
}

// most of each is waiting, and each has an experiment of its own
describe.concurrent('a measurement that names a macro', () => {
  test('gets a row in the table of the macro, beside its own facts', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { twice: json.x * 2, unit: ctx.unit || "none" };');
    await send(experimentId, [
      {
        timestamp: minute(0),
        device_id: 'd-1',
        timezone: 'Europe/Amsterdam',
        latitude: 51.9,
        longitude: 5.6,
        sample: { x: 21 },
        macros: [{ id: macroId }],
        macro_context: '{"unit":"µmol"}',
      },
      { timestamp: minute(1), device_id: 'd-1', sample: { x: 1.25 }, macros: [macroId] },
      { timestamp: minute(2), device_id: 'd-1', sample: { x: 3 } },
    ]);
    await settled(experimentId);
    expect(await rowsOf(experimentId, macroId)).toMatchObject([
      {
        device_id: 'd-1',
        timestamp: '2026-05-01T10:00:00.000Z',
        local_time: '12:00',
        latitude: 51.9,
        twice: 42,
        unit: 'µmol',
        macro_error: null,
      },
      { device_id: 'd-1', timestamp: '2026-05-01T10:01:00.000Z', twice: 2.5, unit: 'none', macro_error: null },
    ]);
    const { body: tables } = await owner('GET', `/api/v1/experiments/${experimentId}/tables`);
    expect(tables.find((table: any) => table.identifier === macroId)).toMatchObject({
      tableType: 'macro',
      totalRows: 2,
      errorColumn: 'macro_error',
    });
  });

  test('that no turn is long enough for is given up in the end, and the others are run', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { text: json.n === 0 ? "small" : "x".repeat(json.n) };');
    // eight entries of 9 MB are more than one batch may answer
    await send(experimentId, [
      { timestamp: minute(0), device_id: 'd', sample: { sample: Array.from({ length: 9 }, () => ({ n: 9_000_000 })) }, macros: [macroId] },
      { timestamp: minute(1), device_id: 'd', sample: { n: 0 }, macros: [macroId] },
    ]);
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId, { columns: 'timestamp,text,macro_error' });
    expect(rows.filter(({ text }) => text === 'small')).toHaveLength(1);
    expect(rows.filter(({ macro_error: error }) => typeof error === 'string')).toHaveLength(9);
  });

  test('carries the answers to its questions, delivered or run, and keeps them apart from outputs of their names', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { phi2: json.x, treatment: "an output" };');
    const asked = (genotype: string | null, treatment = 'drought') => [
      { question_label: 'Genotype', question_text: 'Which?', question_answer: genotype },
      { question_label: 'treatment', question_text: 'Which?', question_answer: treatment },
      { question_label: 'macro_error', question_text: 'A base name', question_answer: 'none' },
    ];
    await send(experimentId, [
      { timestamp: minute(0), device_id: 'd', sample: { x: 0.5 }, macros: [macroId], questions: asked('B73') },
      { timestamp: minute(1), device_id: 'd', sample: { x: 0.7 }, macros: [macroId], questions: asked('B73') },
      {
        timestamp: minute(2),
        device_id: 'd',
        sample: { x: 0.1 },
        macros: [{ id: macroId, output: { phi2: 0.1, treatment: 'delivered' } }],
        questions: asked('Mo17'),
      },
      { timestamp: minute(3), device_id: 'd', sample: { x: 0.2 }, macros: [macroId] },
    ]);
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId, {
      columns: 'phi2,genotype,treatment,question_treatment,question_macro_error,macro_error',
    });
    const plain = { question_treatment: 'drought', question_macro_error: 'none', macro_error: null };
    expect(rows).toEqual([
      { phi2: 0.5, genotype: 'B73', treatment: 'an output', ...plain },
      { phi2: 0.7, genotype: 'B73', treatment: 'an output', ...plain },
      { phi2: 0.1, genotype: 'Mo17', treatment: 'delivered', ...plain },
      { phi2: 0.2, genotype: null, treatment: 'an output', question_treatment: null, question_macro_error: null, macro_error: null },
    ]);
    const aggregation = JSON.stringify({
      groupBy: [{ column: 'genotype' }],
      functions: [{ column: 'phi2', function: 'avg', alias: 'mean' }],
    });
    const grouped = await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: macroId, aggregation } });
    expect(grouped.status, grouped.text).toBe(200);
    expect(grouped.body[0].data.rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ genotype: 'B73', mean: 0.6 }),
        expect.objectContaining({ genotype: 'Mo17', mean: 0.1 }),
      ]),
    );
    // an output that comes to be called as a question is does not take its place
    const code = 'return { phi2: json.x, genotype: "from the macro" };';
    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: { code } })).status).toBe(200);
    await send(experimentId, [{ timestamp: minute(4), device_id: 'd', sample: { x: 1 }, macros: [macroId], questions: asked('W22') }]);
    await settled(experimentId);
    const [last] = (await rowsOf(experimentId, macroId, { columns: 'timestamp,genotype,output_genotype,question_treatment' })).slice(-1);
    expect(last).toMatchObject({ genotype: 'W22', output_genotype: 'from the macro', question_treatment: 'drought' });
  });

  test('runs it on every element of a burst, and of an envelope', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { n: json.n };');
    await send(experimentId, [
      { timestamp: minute(0), sample: [{ n: 0 }, { n: 1 }, { n: 2 }], macros: [{ id: macroId }] },
      { timestamp: minute(1), sample: { device: 'x', sample: [{ n: 3 }, { n: 4 }] }, macros: [{ id: macroId }] },
      { timestamp: minute(2), sample: { sample: [] }, macros: [{ id: macroId }] },
    ]);
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId);
    expect(rows.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, null]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(6);
    expect(rows[5]).toMatchObject({ macro_error: 'The sample of the measurement holds no element.' });
  });

  test('that fails has the error in its row, and leaves the others alone', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('\nif (json.x === 2) throw new Error("no two");\nreturn { x: json.x };');
    const nobody = randomUUID();
    await send(
      experimentId,
      [1, 2, 3].map((x) => ({
        timestamp: minute(x),
        sample: { x },
        macros: [{ id: macroId }, { id: nobody }, { id: 'no id' }],
      })),
    );
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId);
    expect(rows.map(({ x, macro_error: error }) => [x, error])).toEqual([
      [1, null],
      [null, 'no two (line 2)'],
      [3, null],
    ]);
    expect((await rowsOf(experimentId, nobody)).map(({ macro_error: error }) => error)).toEqual(Array(3).fill('There is no such macro.'));
  });

  test('keeps what it brought along, and is run once however often it is delivered', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { v: "computed" };');
    const messages = [
      { timestamp: minute(0), sample: { x: 1 }, macros: [{ id: macroId, output: { v: 'delivered' } }] },
      { timestamp: minute(1), sample: { x: 2 }, macros: [{ id: macroId }] },
    ];
    await send(experimentId, messages);
    await settled(experimentId);
    await send(experimentId, [...messages, messages.map((each) => ({ ...each }))]);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ v }) => v)).toEqual(['delivered', 'computed']);
    expect(await rowsOf(experimentId, 'raw_data')).toHaveLength(2);
  });
});

describe.concurrent('a macro that the sender may not read', () => {
  const shownTo = async (as: Call, experimentId: string, macroId: string) =>
    (await as('GET', `/api/v1/experiments/${experimentId}/tables`)).body.find(
      ({ identifier }: { identifier: string }) => identifier === macroId,
    );
  const reprocess = (as: Call, experimentId: string, macroId: string) =>
    as('POST', `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`, { body: {} });
  const measured = (n: number, macroId: string) => ({ timestamp: minute(n), sample: { x: n }, macros: [{ id: macroId }] });

  test('is not run: the measurement is stored, managers see why, and one who may read the macro allows it once for all', async () => {
    const { cast, db } = test$;
    const [stranger, admin] = [test$.as(cast.stranger), test$.as(cast.admin)];
    const experimentId = await makeExperiment();
    for (const { id } of [cast.stranger, cast.viewer]) await grant(db, { id: experimentId, type: 'experiment' }, { user: id }, 'viewer');
    const macroId = await makeMacro('return { y: json.x };', { organizationId: undefined, visibility: 'private' }, stranger);
    // its author sends, and it runs
    await send(experimentId, [measured(0, macroId)], { userId: cast.stranger.id });
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([0]);
    expect((await shownTo(owner, experimentId, macroId)).withheld).toBeUndefined();

    await send(experimentId, [measured(1, macroId), measured(2, macroId)]);
    await send(experimentId, [measured(3, macroId)], { clientId: 'a device of nobody' });
    await settled(experimentId);
    expect(await rowsOf(experimentId, 'raw_data')).toHaveLength(4);
    expect(await rowsOf(experimentId, macroId)).toHaveLength(1);
    const table = await shownTo(owner, experimentId, macroId);
    expect(table).toMatchObject({
      displayName: `Processed Data (${macroId})`,
      totalRows: 1,
      withheld: { measurements: 3, reason: expect.stringContaining(`${macroId}/reprocess`), firstAt: expect.any(String) },
    });
    expect((await shownTo(test$.as(cast.viewer), experimentId, macroId)).withheld).toBeUndefined();

    // who manages and may not read it, who may read it and does not manage, and a reader
    expect((await reprocess(owner, experimentId, macroId)).body.code).toBe('MACRO_NOT_USABLE');
    expect((await reprocess(stranger, experimentId, macroId)).body.code).toBe('ACTION_DENIED');
    expect((await shownTo(owner, experimentId, macroId)).withheld).toMatchObject({ measurements: 3 });
    await grant(db, { id: macroId, type: 'macro' }, { user: cast.admin.id }, 'viewer');
    expect((await reprocess(admin, experimentId, macroId)).status).toBe(201);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([0, 1, 2, 3]);
    expect((await shownTo(owner, experimentId, macroId)).withheld).toBeUndefined();
    await send(experimentId, [measured(4, macroId)], { clientId: 'another device of nobody' });
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([0, 1, 2, 3, 4]);
  });

  test('is shown before it has a table, and by its name to who may read it', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return {};', { organizationId: undefined, visibility: 'private' }, test$.as(cast.stranger));
    await grant(db, { id: macroId, type: 'macro' }, { user: cast.admin.id }, 'viewer');
    await grant(db, { id: experimentId, type: 'experiment' }, { user: cast.viewer.id }, 'viewer');
    await send(experimentId, [measured(0, macroId)]);
    await settled(experimentId);
    expect(await shownTo(owner, experimentId, macroId)).toMatchObject({
      canRead: false,
      totalRows: 0,
      version: 0,
      withheld: { measurements: 1 },
    });
    expect((await shownTo(test$.as(cast.admin), experimentId, macroId)).displayName).toMatch(/^Processed Data \(m /);
    expect(await shownTo(test$.as(cast.viewer), experimentId, macroId)).toBeUndefined();
    const read = await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: macroId } });
    expect(read).toMatchObject({ status: 404, body: { code: 'TABLE_NOT_FOUND' } });
  });

  test('a device reads what the person who registered it reads', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { y: json.x };');
    const serialNumber = `s${randomUUID().slice(0, 8)}`;
    const made = await owner('POST', '/api/v1/devices', {
      body: { serialNumber, deviceType: 'ambyte', organizationId: cast.leafLab },
    });
    expect(made.status, made.text).toBe(201);
    const device = await db.one<{ thingName: string }>(
      sql('test')`select thing_name as "thingName" from devices where serial_number = ${serialNumber}`,
    );
    await send(experimentId, [measured(0, macroId)], { clientId: 'a device of nobody' });
    await send(experimentId, [measured(1, macroId)], { clientId: device!.thingName });
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([1]);
    expect((await shownTo(owner, experimentId, macroId)).withheld).toMatchObject({ measurements: 1 });
  });

  test('macros that an experiment notes are bounded', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const ids = await Promise.all(
      [1, 2].map(() => makeMacro('return {};', { organizationId: undefined, visibility: 'private' }, test$.as(cast.stranger))),
    );
    const note = (macroId: string) => db.transaction((tx) => noteWithheld(tx, { experimentId, macroId, measurements: 1, most: 1 }));
    for (const macroId of [...ids, ...ids]) await note(macroId);
    expect((await shownTo(owner, experimentId, ids[0]!)).withheld).toMatchObject({ measurements: 2 });
    expect(await shownTo(owner, experimentId, ids[1]!)).toBeUndefined();
  });
});

describe.concurrent('what is lost', () => {
  test('is run again; what stays too slow is an error in the end, and nobody waits for it', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('if (json.x === 1) for (;;); return { x: json.x };');
    await send(
      experimentId,
      [0, 1, 2].map((x) => ({ timestamp: minute(x), sample: { x }, macros: [{ id: macroId }] })),
    );
    const { db } = test$;
    let tries = 0;
    for (let at = 0; at < 600 && tries < 2; at += 1) {
      const left = await db.one<{ tries: number; rows: number }>(
        sql('test')`select tries, cardinality(row_ids) as rows from macro_work where experiment_id = ${experimentId}`,
      );
      if (left?.rows === 1) tries = Math.max(tries, left.tries);
      if (tries > 0 && tries < 2) expect((await rowsOf(experimentId, macroId)).map(({ x }) => x)).toEqual([0, 2]);
      await sleep(50);
    }
    expect(tries).toBe(2);
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId);
    expect(rows.map(({ x }) => x)).toEqual([0, null, 2]);
    expect(rows[1]!['macro_error']).toMatch(/^TimeoutError: /);
  });

  test('is not stored before the language can run: the work waits', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('list(x = 1)', { language: 'r' });
    await send(experimentId, [{ timestamp: minute(0), sample: { x: 1 }, macros: [{ id: macroId }] }]);
    const { db } = test$;
    const work = () =>
      db.one<{ tries: number; waits: boolean }>(
        sql('test')`select tries, next_at > now() as waits from macro_work where experiment_id = ${experimentId}`,
      );
    await expect.poll(async () => (await work())?.tries, { timeout: 60_000, interval: 50 }).toBeGreaterThan(1);
    await db.run(sql('test')`update macro_work set tries = 7, next_at = now() where experiment_id = ${experimentId}`);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId))[0]!['macro_error']).toMatch(/^Macros in r cannot run on this server/);
  });
});

describe.concurrent('running a macro again', () => {
  const path = (experimentId: string, macroId: string) => `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`;

  test('POST /api/v1/experiments/{id}/data/macros/{macroId}/reprocess, GET …/reprocess and GET …/reprocess/{reprocessId}', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { v: json.x };');
    await send(experimentId, [
      ...Array.from({ length: 30 }, (_, x) => ({ timestamp: minute(x), sample: { x }, macros: [{ id: macroId }] })),
      { timestamp: minute(40), sample: { x: 40 }, macros: [{ id: macroId, output: { v: 999 } }] },
      { timestamp: minute(41), sample: { x: 41 } },
    ]);
    await settled(experimentId);
    const before = await rowsOf(experimentId, macroId);
    expect(before).toHaveLength(31);
    const edited = { code: 'if (json.x === 7) throw new Error("seven"); return { v: json.x + 0.5, more: "new" };' };
    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: edited })).status).toBe(200);

    const { status, body } = await owner('POST', path(experimentId, macroId), { body: {} });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      experimentId,
      macroId,
      codeVersion: 2,
      includeDelivered: false,
      status: 'queued',
      totalRows: 0,
      createdBy: test$.cast.owner.id,
    });
    await settled(experimentId);
    const done = await owner('GET', `${path(experimentId, macroId)}/${body.id}`);
    expect(done.status).toBe(200);
    expect(done.body).toMatchObject({ id: body.id, status: 'completed', totalRows: 30, doneRows: 30, failedRows: 1 });
    expect(Date.parse(done.body.completedAt)).toBeGreaterThanOrEqual(Date.parse(done.body.startedAt));
    const listed = await owner('GET', path(experimentId, macroId));
    expect(listed.body).toEqual([done.body]);

    const after = await rowsOf(experimentId, macroId);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after[7]).toMatchObject({ v: null, more: null, macro_error: expect.stringContaining('seven') });
    expect(after.filter((_, at) => at !== 7 && at < 30).map(({ v, more }) => [v, more])).toEqual(
      before.filter((_, at) => at !== 7 && at < 30).map(({ v }) => [Number(v) + 0.5, 'new']),
    );
    expect(after[30]).toMatchObject({ v: 999, more: null });

    expect((await owner('POST', path(experimentId, macroId), { body: { includeDelivered: true } })).status).toBe(201);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId))[30]).toMatchObject({ v: 40.5, more: 'new' });
  });

  test('columns may be called as the engine calls what it adds to rows of files', async () => {
    const experimentId = await makeExperiment();
    const code = (text: string) => `return { filename: '${text}', 'files$': '${text}', files: '${text}', file_row_number: json.x };`;
    const macroId = await makeMacro(code('first'));
    await send(
      experimentId,
      Array.from({ length: 3 }, (_, x) => ({ timestamp: minute(x), sample: { x }, macros: [{ id: macroId }] })),
    );
    await settled(experimentId);
    const filters = (text: string) =>
      JSON.stringify(['filename', 'files$', 'files'].map((column) => ({ column, operator: 'equals', value: text })));
    expect(await rowsOf(experimentId, macroId, { filters: filters('first') })).toHaveLength(3);
    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: { code: code('second') } })).status).toBe(200);
    expect((await owner('POST', path(experimentId, macroId), { body: {} })).status).toBe(201);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId, { filters: filters('second') })).map((row) => row['file_row_number'])).toEqual([0, 1, 2]);
  });

  test('is for who manages the experiment, one at a time, of a macro that the experiment may run', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return {};');
    await grant(db, { id: experimentId, type: 'experiment' }, { user: cast.viewer.id }, 'viewer');
    const ask = (as: Call, id = macroId) => as('POST', path(experimentId, id), { body: {} });
    expect((await ask(test$.as(cast.viewer))).status).toBe(403);
    expect((await ask(test$.as(cast.stranger))).status).toBe(403);
    expect((await ask(test$.as(null))).status).toBe(401);
    expect(await ask(owner, randomUUID())).toMatchObject({ status: 404, body: { code: 'MACRO_NOT_USABLE' } });
    expect((await ask(owner, 'x')).status).toBe(400);
    const first = await ask(owner);
    expect(first.status).toBe(201);
    await settled(experimentId);
    // without measurements a run is over at once: this one is held as if it had some
    const hold = (status: string) => db.run(sql('test.hold')`update macro_reprocesses set status = ${status} where id = ${first.body.id}`);
    await hold('running');
    expect(await ask(owner)).toMatchObject({ status: 409, body: { code: 'REPROCESS_RUNNING' } });
    await hold('completed');
    expect((await ask(owner)).status).toBe(201);
    await settled(experimentId);
    expect((await test$.as(cast.viewer)('GET', path(experimentId, macroId))).body).toHaveLength(2);
    expect(await owner('GET', `${path(experimentId, macroId)}/${randomUUID()}`)).toMatchObject({
      status: 404,
      body: { code: 'REPROCESS_NOT_FOUND' },
    });
    expect((await owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } })).status).toBe(200);
    expect((await ask(owner)).body.code).toBe('EXPERIMENT_ARCHIVED');
  });

  test('ends for whoever loses the experiment meanwhile, and what it had not reached stays', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { v: "first" };');
    await send(experimentId, [{ timestamp: minute(0), sample: { x: 1 }, macros: [{ id: macroId }] }]);
    await settled(experimentId);
    const [measured] = await rowsOf(experimentId, 'raw_data');
    await grant(db, { id: experimentId, type: 'experiment' }, { user: cast.viewer.id }, 'viewer');
    await grant(db, { id: macroId, type: 'macro' }, { user: cast.viewer.id }, 'viewer');
    const runRest = async (scope: 'naming' | 'matching') => {
      const asked = { experimentId, macroId, codeVersion: 1, includeDelivered: false, scope, filters: null, createdBy: cast.viewer.id };
      const id = randomUUID();
      await db.transaction(async (tx) => {
        await insertReprocess(tx, { ...asked, id });
        await startReprocess(tx, id, 1);
        const times = { from: measured!['timestamp'], to: measured!['timestamp'] };
        const work = { id: randomUUID(), macroId, workbookVersionId: null, senderId: cast.viewer.id, reprocessId: id };
        await insertWork(tx, experimentId, [{ ...work, ...times, rowIds: [measured!['id']] }]);
      });
      await settled(experimentId);
      const [row] = await rowsOf(experimentId, macroId);
      return [row!['v'], (await owner('GET', `${path(experimentId, macroId)}/${id}`)).body];
    };
    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: { code: 'return { v: "second" };' } })).status).toBe(200);
    expect(await runRest('matching')).toMatchObject(['second', { status: 'completed', failedRows: 0 }]);
    await db.run(sql('test.ungrant')`delete from grants where resource_id = ${experimentId}`);
    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: { code: 'return { v: "third" };' } })).status).toBe(200);
    for (const scope of ['matching', 'naming'] as const)
      expect(await runRest(scope)).toMatchObject(['second', { failedRows: 1, note: expect.stringContaining('no longer contribute') }]);
  });
});

describe.concurrent('analysis after the campaign', () => {
  const at = (experimentId: string, macroId: string) => `/api/v1/experiments/${experimentId}/macros/${macroId}/run`;
  const ask = (experimentId: string, macroId: string, body: object = {}, as = owner) => as('POST', at(experimentId, macroId), { body });
  const tablesOf = async (experimentId: string): Promise<{ identifier: string; tableType: string; runsOnNew?: boolean }[]> =>
    (await owner('GET', `/api/v1/experiments/${experimentId}/tables`)).body;
  const plain = (n: number, genotype = n % 2 === 0 ? 'B73' : 'Mo17') => ({
    timestamp: minute(n),
    device_id: `d-${n % 3}`,
    sample: { x: n },
    questions: [{ question_label: 'genotype', question_text: 'Which?', question_answer: genotype }],
  });

  test('a macro runs over measurements that never named it: all, or by filters; edited, and run again; and over those to come', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { y: json.x };');
    await send(
      experimentId,
      Array.from({ length: 30 }, (_, n) => plain(n)),
    );
    await send(experimentId, [{ ...plain(30), macros: [{ id: macroId, output: { y: -1 } }] }]);
    await settled(experimentId);
    // nothing names it: that is said
    const again = await owner('POST', `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`, { body: {} });
    await settled(experimentId);
    const none = await owner('GET', `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess/${String(again.body.id)}`);
    expect(none.body).toMatchObject({
      scope: 'naming',
      status: 'completed',
      totalRows: 0,
      note: expect.stringContaining('No measurement'),
    });

    const some = await ask(experimentId, macroId, { filters: [{ column: 'genotype', operator: 'equals', value: 'B73' }] });
    expect(some.status, some.text).toBe(201);
    expect(some.body).toMatchObject({ scope: 'matching', status: 'queued', createdBy: test$.cast.owner.id });
    await settled(experimentId);
    const done = await owner('GET', `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess/${String(some.body.id)}`);
    expect(done.body).toMatchObject({ status: 'completed', totalRows: 15, doneRows: 15, failedRows: 0 });
    expect(done.body.note).toBeUndefined();
    // 15 that match, and the one that was delivered
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([...Array.from({ length: 15 }, (_, n) => 2 * n), -1]);

    expect((await ask(experimentId, macroId)).status).toBe(201);
    await settled(experimentId);
    expect((await rowsOf(experimentId, macroId)).map(({ y }) => y)).toEqual([...Array.from({ length: 30 }, (_, n) => n), -1]);

    expect((await owner('PUT', `/api/v1/macros/${macroId}`, { body: { code: 'return { y: json.x * 10 };' } })).status).toBe(200);
    expect((await ask(experimentId, macroId, { includeDelivered: true, onNew: true })).status).toBe(201);
    await settled(experimentId);
    await send(experimentId, [plain(40, 'W22'), { ...plain(41, 'W22'), macros: [macroId] }]);
    await settled(experimentId);
    const rows = await rowsOf(experimentId, macroId, { columns: 'y,genotype' });
    expect(rows.map(({ y }) => y)).toEqual([...Array.from({ length: 31 }, (_, n) => n * 10), 400, 410]);
    expect(rows.at(-1)).toEqual({ y: 410, genotype: 'W22' });

    const runsOnNew = async () => (await tablesOf(experimentId)).find(({ identifier }) => identifier === macroId)?.runsOnNew;
    expect(await runsOnNew()).toBe(true);
    expect((await owner('DELETE', at(experimentId, macroId))).status).toBe(200);
    expect(await runsOnNew()).toBe(false);
    expect((await owner('DELETE', at(experimentId, macroId))).body.code).toBe('MACRO_NOT_ON_NEW');
    await send(experimentId, [plain(50)]);
    await settled(experimentId);
    expect(await rowsOf(experimentId, macroId)).toHaveLength(33);
  });

  test('is told of before there is a row of it', async () => {
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { y: json.x };');
    const listed = async () => (await tablesOf(experimentId)).filter(({ tableType }) => tableType === 'macro');
    expect(await listed()).toEqual([]);
    expect((await ask(experimentId, macroId, { onNew: true })).status).toBe(201);
    expect(await listed()).toMatchObject([{ identifier: macroId, totalRows: 0, version: 0, canRead: false, runsOnNew: true }]);
    expect((await owner('DELETE', at(experimentId, macroId))).status).toBe(200);
    expect(await listed()).toEqual([]);
  });

  test('is for who contributes and may read the macro; one that the experiment may not run is allowed by a manager', async () => {
    const { cast, db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { ok: true };');
    await send(experimentId, [plain(0)]);
    await settled(experimentId);
    expect((await ask(experimentId, macroId, {}, test$.as(cast.stranger))).body.code).toBe('ACTION_DENIED');
    expect((await ask(experimentId, macroId, {}, test$.as(null))).status).toBe(401);
    expect((await ask(experimentId, randomUUID())).body.code).toBe('MACRO_NOT_USABLE');
    const wrong = await ask(experimentId, macroId, { filters: [{ column: 'genotyp', operator: 'equals', value: 'B73' }] });
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: expect.stringMatching(/^\/filters/) }] } });
    // a stranger's own macro: they may run it over what is there, and only a manager on what others are to send
    const theirs = await makeMacro('return { theirs: 1 };', { organizationId: undefined, visibility: 'private' }, test$.as(cast.stranger));
    await grant(db, { id: experimentId, type: 'experiment' }, { user: cast.stranger.id }, 'viewer');
    expect((await ask(experimentId, theirs)).body.code).toBe('MACRO_NOT_USABLE');
    const onNew = { onNew: true };
    expect(await ask(experimentId, theirs, onNew, test$.as(cast.stranger))).toMatchObject({
      status: 403,
      body: { code: 'MACRO_NOT_ALLOWED' },
    });
    expect((await ask(experimentId, theirs, {}, test$.as(cast.stranger))).status).toBe(201);
    await settled(experimentId);
    expect(await rowsOf(experimentId, theirs, { columns: 'theirs' })).toEqual([{ theirs: 1 }]);
    await send(experimentId, [{ ...plain(1), macros: [theirs] }]);
    await settled(experimentId);
    expect(await rowsOf(experimentId, theirs)).toHaveLength(1);
    // somebody who manages the experiment and may read it allows it once for all
    await grant(db, { id: theirs, type: 'macro' }, { user: cast.admin.id }, 'viewer');
    expect((await ask(experimentId, theirs, {}, test$.as(cast.admin))).status).toBe(201);
    await settled(experimentId);
    expect(await rowsOf(experimentId, theirs)).toHaveLength(2);
    await send(experimentId, [{ ...plain(2), macros: [theirs] }]);
    await settled(experimentId);
    expect(await rowsOf(experimentId, theirs)).toHaveLength(3);
    expect((await ask(experimentId, theirs, onNew, test$.as(cast.stranger))).status).toBe(201);
    await settled(experimentId);
    expect((await owner('PATCH', `/api/v1/experiments/${experimentId}`, { body: { status: 'archived' } })).status).toBe(200);
    expect((await ask(experimentId, macroId)).body.code).toBe('EXPERIMENT_ARCHIVED');
  });
});

test('values of a run’s filters are seen by those who may read what they filter', async () => {
  const id = await makeExperiment();
  expect(await owner('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'public' } })).toMatchObject({ status: 200 });
  const macroId = await makeMacro('output = {};');
  const filters = JSON.stringify([{ column: 'id', operator: 'starts_with', value: 'secret' }]);
  expect(await owner('POST', `/api/v1/experiments/${id}/macros/${macroId}/run`, { body: { filters } })).toMatchObject({ status: 201 });
  const path = `/api/v1/experiments/${id}/data/macros/${macroId}/reprocess`;
  const seenBy = async (call: Call) => {
    const list = await call('GET', path);
    expect(list.status, list.text).toBe(200);
    const [run] = list.body;
    return [run, (await call('GET', `${path}/${run.id}`)).body].map((each) => each.filters);
  };
  expect(await seenBy(owner)).toEqual([filters, filters]);
  expect(await seenBy(test$.as(test$.cast.stranger))).toEqual(Array(2).fill(JSON.stringify([{ column: 'id', operator: 'starts_with' }])));
});

test('in an anonymised experiment only managers and those who asked see who ran a macro', async () => {
  const id = await makeExperiment();
  const [member, viewer] = [test$.as(test$.cast.member), test$.as(test$.cast.viewer)];
  await grant(test$.db, { id, type: 'experiment' }, { user: test$.cast.viewer.id }, 'viewer');
  const macroId = await makeMacro('output = {};');
  expect(await member('POST', `/api/v1/experiments/${id}/macros/${macroId}/run`, { body: {} })).toMatchObject({ status: 201 });
  const path = `/api/v1/experiments/${id}/data/macros/${macroId}/reprocess`;
  const askedBy = async (call: Call): Promise<string[]> => {
    const [run] = (await call('GET', path)).body;
    return [run.createdBy, (await call('GET', `${path}/${run.id}`)).body.createdBy];
  };
  const real = [test$.cast.member.id, test$.cast.member.id];
  expect(await askedBy(viewer)).toEqual(real);
  expect(await owner('PATCH', `/api/v1/experiments/${id}`, { body: { anonymizeContributors: true } })).toMatchObject({ status: 200 });
  const pseudonym = expect.stringMatching(/^Contributor-[0-9A-F]{16}$/);
  expect(await askedBy(viewer)).toEqual([pseudonym, pseudonym]);
  expect(await askedBy(member)).toEqual(real);
  expect(await askedBy(owner)).toEqual(real);
});

test('an experiment whose measurements cannot be read holds back no other, and is run once they can', async () => {
  const macroId = await makeMacro('return { twice: json.x * 2 };');
  const experiments = [await makeExperiment(), await makeExperiment()] as const;
  for (const experimentId of experiments) {
    await send(experimentId, [{ timestamp: minute(0), device_id: 'd', sample: { x: 21 } }]);
    await settled(experimentId);
  }
  const [broken, whole] = experiments;
  const raw = await test$.db.one<{ id: string }>(
    sql('test')`select id from lake_tables where experiment_id = ${broken} and kind = 'raw_data'`,
  );
  const files = dataFilesOf(test$.lakeFolder, raw!.id);
  expect(files).not.toEqual([]);
  for (const file of files) renameSync(file, `${file}.away`);
  const run = (experimentId: string) => owner('POST', `/api/v1/experiments/${experimentId}/macros/${macroId}/run`, { body: {} });
  for (const experimentId of experiments) expect((await run(experimentId)).status).toBe(201);
  await settled(whole);
  expect(await rowsOf(whole, macroId, { columns: 'twice' })).toEqual([{ twice: 42 }]);
  const { body: runs } = await owner('GET', `/api/v1/experiments/${broken}/data/macros/${macroId}/reprocess`);
  expect(runs).toMatchObject([{ status: 'queued' }]);
  // between its tries it rests, and no look at the queue is a try
  const resting = () =>
    test$.db.one(
      sql(
        'test',
      )`select tries, next_at > now() as "isResting" from macro_reprocesses where experiment_id = ${broken} and status = 'queued'`,
    );
  await expect.poll(() => test$.server.output().split('a macro could not be run again yet').length, { timeout: 15_000 }).toBe(2);
  // a missing file does not count as a try
  await expect.poll(resting).toEqual({ tries: 0, isResting: true });
  await sleep(1_500);
  expect(await resting()).toEqual({ tries: 0, isResting: true });
  for (const file of files) renameSync(`${file}.away`, file);
  await settled(broken);
  expect(await rowsOf(broken, macroId, { columns: 'twice' })).toEqual([{ twice: 42 }]);
});

test.each([1, 0])(
  'a measurement that is being stored while a macro is put on new ones is computed too, after %d others',
  async (before) => {
    const { db } = test$;
    const experimentId = await makeExperiment();
    const macroId = await makeMacro('return { twice: json.x * 2 };');
    const ask = () =>
      owner('POST', `/api/v1/experiments/${experimentId}/macros/${macroId}/run`, { body: { onNew: true } }).then(({ status }) => status);
    if (before > 0) await send(experimentId, [{ timestamp: minute(0), sample: { x: 1 } }]);
    await settled(experimentId);
    let asked: Promise<number> | undefined;
    await db.transaction(async (tx) => {
      // whoever stores this looks for the macros of its protocol after those that run on new measurements, and waits
      await tx.run(sql('test')`lock table macro_protocols in access exclusive mode`);
      await send(experimentId, [{ timestamp: minute(1), sample: { x: 2 }, protocol_id: randomUUID() }]);
      await expect.poll(() => countWaiting(db, 'table')).toBe(1);
      let isAnswered = false;
      asked = ask().finally(() => (isAnswered = true));
      const isRun = async () =>
        (await db.one(sql('test')`select from macro_reprocesses where experiment_id = ${experimentId} and status = 'completed'`)) !==
        undefined;
      await expect.poll(async () => (isAnswered && (await isRun())) || (await countWaiting(db, 'row')) > 0).toBe(true);
    });
    expect(await asked).toBe(201);
    await settled(experimentId);
    expect(await rowsOf(experimentId, macroId, { columns: 'twice' })).toEqual(before > 0 ? [{ twice: 2 }, { twice: 4 }] : [{ twice: 4 }]);
  },
);
