import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MESSAGE_ARRIVALS } from '../../scripts/lakeflow.ts';
import { sql } from '../../src/database/sql.ts';
import { landMeasurements } from '../../src/ingest/landing-measurements.ts';
import { landOutputs } from '../../src/ingest/landing-outputs.ts';
import { storeMacroRows } from '../../src/ingest/macro-tables.ts';
import { readMeasured } from '../../src/ingest/measured.ts';
import { ingestMessages, listPending, storeMessages } from '../../src/ingest/messages.ts';
import { listHandled } from '../../src/ingest/messages.queries.ts';
import { fill } from '../../src/ingest/pipeline.ts';
import { replayMessages } from '../../src/ingest/replay-messages.ts';
import { readPayload } from '../../src/iot/payload.ts';
import { fixedColumns, physicalColumns } from '../../src/lakehouse/catalog.ts';
import { compactTable } from '../../src/lakehouse/maintenance.ts';
import { columnsAt, findTable } from '../../src/lakehouse/manifest.ts';
import { seeded, seedOf } from '../support/crashes.ts';
import { AWKWARD, MACROS, payloads } from './payloads.ts';
import { openLake, type Lake } from './setup.ts';

const MESSAGES = 300;

let lake: Lake;
let folder: string;
beforeAll(async () => {
  lake = await openLake();
  folder = join(lake.folder, 'landing');
});
afterAll(() => lake.close());

const at = (n: number) => new Date(Date.UTC(2026, 4, 1, 10, 0, n)).toISOString();
const read = (message: { body: Buffer | null }) => Promise.resolve(readPayload(message.body ?? Buffer.alloc(0)));

async function send(experimentId: string, bodies: readonly (Buffer | object)[]): Promise<void> {
  await storeMessages(
    lake.db,
    bodies.map((body) => ({ experimentId, clientId: 'c', body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)) })),
  );
  for (;;) {
    const pending = await listPending(lake.db, experimentId, { messages: 100, bytes: 50_000_000 });
    if (pending.length === 0) return;
    const messages = pending.map((message) => ({
      id: message.id,
      arrival: message,
      decoded: readPayload(message.body ?? Buffer.alloc(0)),
    }));
    await ingestMessages(lake.deps, experimentId, messages);
  }
}

const tableOf = async (experimentId: string, identifier: string) => (await findTable(lake.db, experimentId, identifier))!;
const land = async (experimentId: string, into = folder) =>
  landMeasurements({ db: lake.db, read }, await tableOf(experimentId, 'raw_data'), into);
const landMacro = async (experimentId: string, macroId: string) => landOutputs(lake.deps, await tableOf(experimentId, macroId), folder);
const names = (kind: string, experimentId: string) =>
  existsSync(join(folder, kind)) ? readdirSync(join(folder, kind)).filter((name) => name.startsWith(experimentId)) : [];
const lines = (kind: string, name: string) =>
  readFileSync(join(folder, kind, name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, string | null>);

/** Rows that one of two relations has and the other has not. */
async function differing(left: string, right: string): Promise<number> {
  const found = await lake.reader.runAndReadAll(
    `select (select count(*) from (${left} except all ${right})) + (select count(*) from (${right} except all ${left})) as n`,
  );
  return Number(found.getRows()[0]?.[0]);
}

/** The landed records of an experiment, as the view that the gold steps read. */
async function openLanded(kind: keyof typeof MESSAGE_ARRIVALS, experimentId: string): Promise<void> {
  const columns = MESSAGE_ARRIVALS[kind].split(' ').map((name) => `${name}: 'VARCHAR'`);
  await lake.reader.run(`create or replace table time_zones as select distinct name from pg_timezone_names()`);
  await lake.reader.run(`set variable experiment_id = '${experimentId}'`);
  await lake.reader
    .run(`create or replace temp view bronze_records as select * from read_json('${join(folder, kind)}/${experimentId}-*.json',
    format = 'newline_delimited', maximum_object_size = 33554432, columns = {${columns.join(', ')}})`);
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

test('the gold step makes of what was landed the rows that are stored', async () => {
  const experimentId = randomUUID();
  await send(experimentId, [...payloads(seeded(seedOf('landing')), MESSAGES), AWKWARD]);
  const table = await tableOf(experimentId, 'raw_data');
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: table.rowCount, missing: 0 });
  const records = lines('measurements', names('measurements', experimentId)[0]!);
  for (const record of records) expect(Object.keys(record).sort()).toStrictEqual(MESSAGE_ARRIVALS.measurements.split(' ').sort());

  await openLanded('measurements', experimentId);
  const columns = await columnsAt(lake.db, table.id, table.version);
  expect(columns.length).toBeGreaterThan(3);
  const answers = columns.map(({ name }) => `, json_extract_string(answers, '$."${name}"') as ${quoted(name)}`).join('');
  const list = [...physicalColumns(fixedColumns('raw_data')), ...columns]
    .filter(({ name }) => name !== 'data')
    .map(({ name }) => `${quoted(name)}::varchar`)
    .join(', ');
  const made = fill(lake.pipelines.measurementRows, { questions: answers }).sql;
  expect(await differing(`select ${list} from (${made})`, `select ${list} from ${(await lake.relation(table.id))!}`)).toBe(0);

  const dataOf = async (from: string) => {
    const found = await lake.reader.runAndReadAll(`select id, data::varchar from ${from} where data is not null order by id`);
    return found.getRows().map(([id, data]) => [id, String(data)] as const);
  };
  const [kept, landed] = [await dataOf((await lake.relation(table.id))!), await dataOf(`(${made})`)];
  expect(landed.map(([id, data]) => [id, JSON.parse(data)])).toStrictEqual(kept.map(([id, data]) => [id, JSON.parse(data)]));
  const awkward = (rows: typeof kept) => rows.flatMap(([, data]) => (data.includes('1e309') ? [data] : []));
  expect(awkward(kept)).toStrictEqual(['{"a":1,"b":"1e400","a":[2,"-1e309"]}']);
  expect(awkward(landed)).toStrictEqual(['{"a":[2,"-1e309"],"b":"1e400"}']);

  const devices = fill(lake.pipelines.deviceRows, { known: 'select null::varchar as id where false', measurements: '1' }).sql;
  const device = await tableOf(experimentId, 'device');
  const said = physicalColumns(fixedColumns('device'))
    .map(({ name }) => `${quoted(name)}::varchar`)
    .join(', ');
  expect(await differing(`select ${said} from (${devices})`, `select ${said} from ${(await lake.relation(device.id))!}`)).toBe(0);

  for (const macroId of MACROS) {
    const macro = await tableOf(experimentId, macroId);
    expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: macro.rowCount });
    const [name] = names('macro_outputs', `${experimentId}-${macroId}`);
    for (const record of lines('macro_outputs', name!))
      expect(Object.keys(record).sort()).toStrictEqual(MESSAGE_ARRIVALS.macro_outputs.split(' ').sort());
    await openLanded('macro_outputs', `${experimentId}-${macroId}`);
    await lake.reader.run(`set variable experiment_id = '${experimentId}'`);
    await lake.reader.run(`set variable macro_id = '${macroId}'`);
    const step = fill(lake.pipelines.macroRows, { values: '' }).sql;
    const fixed = physicalColumns(fixedColumns('macro'))
      .map((column) => `${quoted(column.name)}::varchar`)
      .join(', ');
    expect(await differing(`select ${fixed} from (${step})`, `select ${fixed} from ${(await lake.relation(macro.id))!}`)).toBe(0);
  }
}, 60_000);

test('only what is new is landed, what a replay made anew again, and what was removed from the folder too', async () => {
  const experimentId = randomUUID();
  const message = (n: number) => ({ timestamp: at(n), sample: [{ n }, { n: n + 0.5 }], device_id: 'd' });
  await send(experimentId, [message(1), message(2), { sample: {} }]);
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: 4, missing: 0 });
  const [first] = names('measurements', experimentId);
  const written = statSync(join(folder, 'measurements', first!)).mtimeMs;
  expect(await land(experimentId)).toStrictEqual({ files: 0, rows: 0, missing: 0 });

  await send(experimentId, [message(2), message(3)]);
  // what a crash left half written
  writeFileSync(join(folder, 'measurements', `.${experimentId}-0000000002-0000000002.json`), '{"cut');
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: 2, missing: 0 });
  expect(names('measurements', experimentId)).toStrictEqual([1, 2].map((n) => `${experimentId}-000000000${n}-000000000${n}.json`));
  expect(
    lines('measurements', names('measurements', experimentId)[1]!).map(({ data, stored_version: version }) => [data, version]),
  ).toStrictEqual([
    ['{"n":3}', '2'],
    ['{"n":3.5}', '2'],
  ]);

  const handled = await listHandled(lake.db, experimentId, { from: '2020-01-01', to: '2100-01-01', after: -1, limit: 1 });
  const again = await Promise.all(handled.map(async (one) => ({ id: one.id, arrival: one, decoded: await read(one) })));
  expect(await replayMessages(lake.deps, experimentId, again)).toBe(2);
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: 2, missing: 0 });
  const [, , third] = names('measurements', experimentId);
  expect(lines('measurements', third!)).toStrictEqual(
    lines('measurements', first!)
      .filter(({ data }) => data === '{"n":1}' || data === '{"n":1.5}')
      .map((record) => ({ ...record, stored_version: '3' })),
  );
  expect(statSync(join(folder, 'measurements', first!)).mtimeMs).toBe(written);

  rmSync(join(folder, 'measurements', names('measurements', experimentId)[1]!));
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: 2, missing: 0 });
  expect(names('measurements', experimentId)).toHaveLength(3);

  // messages that are not kept any more are counted
  await lake.db.run(sql('test')`delete from inbox where experiment_id = ${experimentId} and ordinal = ${handled[0]!.ordinal}`);
  rmSync(join(folder, 'measurements', third!));
  expect(await land(experimentId)).toStrictEqual({ files: 1, rows: 0, missing: 1 });
});

test('of a macro’s table, rows that are new or were made anew are landed; others that were only put together are not', async () => {
  const [experimentId, macroId] = [randomUUID(), randomUUID()];
  const message = (n: number, output: object) => ({
    timestamp: at(n),
    sample: { n },
    device_id: 'd',
    macros: [{ id: macroId, name: 'm', output }],
  });
  await send(experimentId, [message(1, { phi2: 0.5, 'a b': 'x' })]);
  await send(experimentId, [message(2, { phi2: 'high', t: '2026-05-01T10:00:00Z', l: [1, { a: null }] })]);
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: 2 });
  const outputs = () =>
    names('macro_outputs', experimentId).map((name) =>
      lines('macro_outputs', name).map(({ outputs }) => JSON.parse(String(outputs)) as unknown),
    );
  expect(outputs()).toStrictEqual([
    [
      { phi2: 0.5, phi2__text: null, '~612062': 'x', t: null, l: null },
      { phi2: null, '~612062': null, phi2__text: 'high', t: expect.stringContaining('2026-05-01') as string, l: [1, { a: null }] },
    ],
  ]);
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 0, rows: 0 });

  await send(experimentId, [message(3, { phi2: 0.7 })]);
  const { id } = await tableOf(experimentId, macroId);
  expect(await compactTable(lake.deps, id, { sortColumn: 'timestamp' })).toMatchObject({ before: 3, after: 1 });
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: 1 });
  await send(experimentId, [message(4, { phi2: 0.8 })]);
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: 1 });
  await compactTable(lake.deps, id, { sortColumn: 'timestamp' });
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 0, rows: 0 });

  const raw = await lake.rows((await tableOf(experimentId, 'raw_data')).id);
  expect(raw).toHaveLength(4);
  const wanted = { ids: (await rawIds(experimentId)).slice(0, 1), from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' };
  const [row] = await readMeasured(lake.deps, experimentId, wanted);
  const result = { macroId, name: 'm', filename: null, output: { phi2: 9 }, error: null };
  await storeMacroRows(
    lake.deps,
    {
      experimentId,
      macroId,
      rawIds: wanted.ids,
      rows: [{ ...row!, rawId: row!.id, index: 0, version: 'v2', processedAt: new Date().toISOString(), result }],
    },
    () => Promise.resolve(),
  );
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: 1 });
  const last = names('macro_outputs', experimentId).at(-1)!;
  expect(lines('macro_outputs', last)).toMatchObject([
    { raw_id: row!.id, macro_version: 'v2', outputs: expect.stringContaining('"phi2":9') as string },
  ]);

  // once the version that was landed last is forgotten, all of it is landed again
  const name = `${experimentId}-${macroId}-0000000002.json`;
  for (const one of names('macro_outputs', experimentId)) if (one !== name) rmSync(join(folder, 'macro_outputs', one));
  await lake.db.run(sql('test')`delete from lake_versions where table_id = ${id} and version = 2`);
  expect(await landMacro(experimentId, macroId)).toStrictEqual({ files: 1, rows: 4 });
});

const rawIds = async (experimentId: string): Promise<string[]> => {
  const from = await lake.relation((await tableOf(experimentId, 'raw_data')).id);
  return (await lake.reader.runAndReadAll(`select id from ${from!} order by "timestamp"`)).getRows().map(([id]) => String(id));
};

test('a folder that was landed from another lake is refused', async () => {
  const experimentId = randomUUID();
  await send(experimentId, [{ timestamp: at(0), sample: { n: 1 }, macros: [{ id: MACROS[0], output: { a: 1 } }] }]);
  expect(await land(experimentId)).toMatchObject({ files: 1, rows: 1 });
  expect(await landMacro(experimentId, MACROS[0]!)).toMatchObject({ files: 1, rows: 1 });
  writeFileSync(join(folder, 'measurements', `${experimentId}-0000000009-0000000012.json`), '');
  writeFileSync(join(folder, 'macro_outputs', `${experimentId}-${MACROS[0]}-0000000012.json`), '');
  await expect(land(experimentId)).rejects.toThrow('later versions of experiment');
  await expect(landMacro(experimentId, MACROS[0]!)).rejects.toThrow('later versions of experiment');
});
