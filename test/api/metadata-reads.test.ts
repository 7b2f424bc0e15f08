import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refreshMetadataJob } from '../../src/api/metadata/metadata.job.ts';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let id: string;
const macroId = crypto.randomUUID();

const message = (index: number) => ({
  timestamp: `2026-05-01T10:00:0${index}Z`,
  device_id: index % 2 === 0 ? 'dev-a' : 'dev-b',
  sample: { index },
  macros: [{ id: macroId, name: 'Phi', filename: 'phi.py', output: { phi2: index / 10 } }],
  questions: index === 5 ? [] : [{ question_label: 'Plot', question_answer: `P${index % 3}` }],
});

beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Plots', organizationId: site.cast.leafLab } })).body.id;
  const { body } = await owner('POST', '/api/v1/iot/upload-url', { body: { experimentId: id } });
  const messages = Array.from({ length: 6 }, (_, index) => message(index));
  await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: JSON.stringify(messages) });
  for (let tries = 0; tries < 200; tries += 1) {
    const tables = (await owner('GET', `/api/v1/experiments/${id}/tables`)).body;
    if (tables.length === 3 && tables.every(({ totalRows }: { totalRows: number }) => totalRows > 0)) return;
    await sleep(50);
  }
  throw new Error('the measurements did not arrive');
});
afterAll(() => site.stop());

const read = async (query: Record<string, string | number>) => {
  const answer = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data', ...query } });
  return answer.status === 200 ? answer.body[0].data.rows : answer.body;
};
const plots = (rows: object[], more: object = {}) => ({
  name: 'Plots',
  columns: [
    { id: 'c1', name: 'plot_id', type: 'string' },
    { id: 'c2', name: 'treatment', type: 'string' },
    { id: 'c3', name: 'area', type: 'number' },
    { id: 'c4', name: 'sown_on', type: 'date' },
  ],
  rows,
  identifierColumnId: 'c1',
  experimentQuestionId: 'plot',
  ...more,
});
const ROWS = [
  { _id: '1', c1: 'P0', c2: 'dry', c3: 2.5, c4: '2026-03-01' },
  { _id: '2', c1: 'P1', c2: 'wet', c3: '4', c4: '2026-02-30' },
  { _id: '3', c1: 'P1', c2: 'late' },
  { _id: '4', c1: 'P9', c2: 'nobody' },
];
const devices = {
  name: 'Devices',
  columns: [
    { id: 'd', name: 'which', type: 'string' },
    { id: 'o', name: 'operator', type: 'string' },
    { id: 't', name: 'Treatment', type: 'string' },
  ],
  rows: [
    { _id: '1', d: 'dev-a', o: 'Ada', t: 'from the device' },
    { _id: '2', d: 'dev-b', o: 7 },
  ],
  identifierColumnId: 'd',
  experimentQuestionId: 'column:device_id',
};
const path = () => `/api/v1/experiments/${id}/metadata`;
const add = async (metadata: object) => {
  const made = await owner('POST', path(), { body: { metadata } });
  expect(made.status, made.text).toBe(201);
  return made.body as { metadataId: string };
};
const clear = async () => {
  for (const { metadataId } of (await owner('GET', path())).body) await owner('DELETE', `${path()}/${metadataId}`);
};

describe('metadata in reads', () => {
  test('appears in the next read, changes with the next and leaves with the last', async () => {
    const before = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data' } });
    expect(Object.keys(before.body[0].data.rows[0])).not.toContain('treatment');
    const { metadataId } = await add(plots(ROWS));
    const columns = 'timestamp,plot,treatment,area,sown_on';
    const rows = await read({ columns });
    expect(rows.map(({ treatment, area, sown_on }: Record<string, unknown>) => [treatment, area, sown_on])).toEqual([
      ['dry', 2.5, '2026-03-01'],
      ['wet', 4, null],
      [null, null, null],
      ['dry', 2.5, '2026-03-01'],
      ['wet', 4, null],
      [null, null, null],
    ]);
    const whole = await owner('GET', `/api/v1/experiments/${id}/data`, {
      query: { tableName: 'raw_data' },
      headers: { 'if-none-match': before.headers.get('etag')! },
    });
    expect(whole.status).toBe(200);
    expect(whole.body[0].data.columns.slice(-3)).toEqual([
      { name: 'treatment', type_name: 'STRING', type_text: 'STRING' },
      { name: 'area', type_name: 'DOUBLE', type_text: 'DOUBLE' },
      { name: 'sown_on', type_name: 'DATE', type_text: 'DATE' },
    ]);
    const { body: tables } = await owner('GET', `/api/v1/experiments/${id}/tables`);
    const names = (identifier: string) =>
      tables.find((table: { identifier: string }) => table.identifier === identifier).columns.map(({ name }: { name: string }) => name);
    expect(names('raw_data')).toEqual(expect.arrayContaining(['plot', 'treatment', 'area', 'sown_on']));
    expect(names(macroId)).toContain('treatment');
    expect(names('device')).not.toContain('treatment');
    await owner('PUT', `${path()}/${metadataId}`, { body: { metadata: plots([{ _id: '1', c1: 'P2', c2: 'new' }]) } });
    expect((await read({ columns: 'treatment' })).map((row: { treatment: string }) => row.treatment)).toEqual([
      null,
      null,
      'new',
      null,
      null,
      null,
    ]);
    await owner('DELETE', `${path()}/${metadataId}`);
    expect((await read({ columns: 'treatment' })).code).toBe('QUERY_REFUSED');
    expect((await read({})).length).toBe(6);
  });

  test('numbers of more digits than a double has are text, digit by digit', async () => {
    await clear();
    const [serial, least] = ['12345678901234567890', '-9223372036854775808'].map((text) => JSON.rawJSON(text));
    const rows = [
      { _id: '1', c1: 'P0', c2: serial, c3: 0.1 },
      { _id: '2', c1: 'P1', c2: [serial, { deep: least }], c3: least },
      { _id: '3', c1: serial, c2: 7 },
    ];
    await add(plots(rows));
    const [record] = (await owner('GET', path())).body;
    expect(record.metadata.rows.map(({ c1, c2 }: Record<string, unknown>) => [c1, c2])).toEqual([
      ['P0', '12345678901234567890'],
      ['P1', ['12345678901234567890', { deep: '-9223372036854775808' }]],
      ['12345678901234567890', 7],
    ]);
    const shown = (await read({ columns: 'plot,treatment,area', limit: 2 })).map(({ treatment, area }: Record<string, unknown>) => [
      treatment,
      area,
    ]);
    expect(shown).toEqual([
      ['12345678901234567890', 0.1],
      ['["12345678901234567890",{"deep":"-9223372036854775808"}]', -9223372036854775808],
    ]);
    await clear();
  });

  test('a column of numbers refuses one that it would round, as a number and as text, and says where', async () => {
    await clear();
    await add(plots([{ _id: '1', c1: 'P0', c3: '0.12345678901234568' }]));
    await clear();
    for (const value of [
      JSON.rawJSON('9007199254740993'),
      '9007199254740993',
      JSON.rawJSON('0.1234567890123456789'),
      ' +12345678901234567890 ',
    ]) {
      const refused = await owner('POST', path(), { body: { metadata: plots([...ROWS, { _id: '5', c1: 'P5', c3: value }]) } });
      expect(refused.status, refused.text).toBe(400);
      expect(refused.body.errors).toEqual([
        { path: '/metadata/rows/4/c3', message: 'has more digits than a number keeps; make the column of text' },
      ]);
    }
  });

  test('can be filtered by, ordered by, grouped by, listed and exported', async () => {
    await add(plots(ROWS));
    const json = JSON.stringify;
    const plot = ({ plot: name }: { plot: string }) => name;
    expect((await read({ filters: json([{ column: 'treatment', operator: 'equals', value: 'wet' }]) })).map(plot)).toEqual(['P1', 'P1']);
    expect((await read({ filters: json([{ column: 'area', operator: 'greater_than', value: 3 }]), columns: 'plot' })).map(plot)).toEqual([
      'P1',
      'P1',
    ]);
    expect((await read({ filters: json([{ column: 'treatment', operator: 'not_equals', value: 'wet' }]) })).length).toBe(4);
    expect((await read({ orderBy: 'area', orderDirection: 'DESC', columns: 'plot' })).map(plot)).toEqual([
      'P1',
      'P1',
      'P0',
      'P0',
      'P2',
      null,
    ]);
    const aggregation = { groupBy: [{ column: 'treatment' }], functions: [{ column: 'area', function: 'sum', alias: 'total' }] };
    expect(await read({ aggregation: json(aggregation) })).toEqual([
      { treatment: 'dry', total: 5 },
      { treatment: 'wet', total: 8 },
      { treatment: null, total: null },
    ]);
    const distinct = await owner('GET', `/api/v1/experiments/${id}/data/distinct`, {
      query: { tableName: 'raw_data', column: 'treatment' },
    });
    expect(distinct.body.values).toEqual(['dry', 'wet']);
    const { exportId } = (
      await owner('POST', `/api/v1/experiments/${id}/data/exports`, {
        body: { tableName: 'raw_data', format: 'csv', columns: ['plot', 'treatment', 'area'] },
      })
    ).body;
    const file = `/api/v1/experiments/${id}/data/exports/${exportId}`;
    for (let tries = 0; tries < 1_200 && (await owner('GET', `${file}/status`)).body.status !== 'completed'; tries += 1) await sleep(50);
    expect((await owner('GET', file)).text.trim().split('\n').slice(0, 3)).toEqual(['plot,treatment,area', 'P0,dry,2.5', 'P1,wet,4.0']);
    await clear();
  });

  test('is not in the statement of a read that asks for none of it', async () => {
    await add(plots(ROWS));
    const statement = async (query: Record<string, string>) => {
      const headers = { accept: 'application/vnd.fieldlake.plan+json' };
      const answer = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data', ...query }, headers });
      return JSON.parse(answer.text).statement as string;
    };
    expect(await statement({ columns: 'treatment' })).toContain('matched_column');
    expect(await statement({ columns: 'plot,device_id', orderBy: 'timestamp' })).not.toContain('matched_column');
    // of the columns that are asked for, and no others
    expect(await statement({ columns: 'treatment' })).not.toContain('sown_on');
    await clear();
  });

  test('of a device meets its measurements, and of two tables with one name the newer counts', async () => {
    await add(plots(ROWS));
    await add(devices);
    const both = await read({ columns: 'operator,treatment' });
    expect(both.map(({ operator }: { operator: string }) => operator)).toEqual(['Ada', '7', 'Ada', '7', 'Ada', '7']);
    expect(both.map(({ treatment }: { treatment: string }) => treatment)).toEqual([
      'from the device',
      'wet',
      'from the device',
      'dry',
      'from the device',
      null,
    ]);
    // a second table for the same question: its values win, and what it lacks stays
    await add(plots([{ _id: '1', c1: 'P1', c3: 9 }], { name: 'Corrections' }));
    const corrected = await read({
      columns: 'treatment,area',
      filters: JSON.stringify([{ column: 'plot', operator: 'equals', value: 'P1' }]),
    });
    expect(corrected).toEqual([
      { treatment: 'wet', area: 9 },
      { treatment: 'wet', area: 9 },
    ]);
    await clear();
  });

  test('meets what macros made of the measurements', async () => {
    await add(plots(ROWS));
    await add(devices);
    const rows = await read({ tableName: macroId, columns: 'phi2,treatment,operator,area' });
    expect(rows).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => ({
        phi2: index / 10,
        treatment: index % 2 === 0 ? 'from the device' : index === 5 ? null : index % 3 === 0 ? 'dry' : 'wet',
        operator: index % 2 === 0 ? 'Ada' : '7',
        area: index === 5 || index % 3 === 2 ? null : index % 3 === 0 ? 2.5 : 4,
      })),
    );
    const aggregation = { groupBy: [{ column: 'area' }], functions: [{ column: 'phi2', function: 'max', alias: 'most' }] };
    expect(await read({ tableName: macroId, aggregation: JSON.stringify(aggregation) })).toEqual([
      { area: 2.5, most: 0.3 },
      { area: 4, most: 0.4 },
      { area: null, most: 0.5 },
    ]);
    await clear();
  });

  test('meets the answer to a question also where a macro has an output of its name', async () => {
    const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Same name', organizationId: site.cast.leafLab } });
    const own = `/api/v1/experiments/${made.body.id}`;
    const macro = { id: crypto.randomUUID(), name: 'Counts', filename: 'counts.py', output: { plot: 7 } };
    const { body } = await owner('POST', '/api/v1/iot/upload-url', { body: { experimentId: made.body.id } });
    const sent = { ...message(0), macros: [macro] };
    await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: JSON.stringify([sent]) });
    await owner('POST', `${own}/metadata`, { body: { metadata: plots(ROWS) } });
    const rows = async (tableName: string, columns: string) => {
      const answer = await owner('GET', `${own}/data`, { query: { tableName, columns } });
      return answer.status === 200 ? answer.body[0].data.rows : answer.body;
    };
    await expect.poll(() => rows('raw_data', 'plot,treatment')).toEqual([{ plot: 'P0', treatment: 'dry' }]);
    await expect.poll(() => rows(macro.id, 'plot,question_plot')).toEqual([{ plot: 7, question_plot: 'P0' }]);
    expect(await rows(macro.id, 'plot,treatment,area')).toEqual([{ plot: 7, treatment: 'dry', area: 2.5 }]);
  });

  test('with a name that measurements have is told apart, and of a question that nobody answered is null', async () => {
    const columns = [
      { id: 'c1', name: 'plot_id', type: 'string' },
      { id: 'c2', name: 'Plot', type: 'string' },
    ];
    await add(plots([{ _id: '1', c1: 'P0', c2: 'north' }], { columns }));
    expect((await read({ columns: 'plot,metadata_Plot' }))[0]).toEqual({ plot: 'P0', metadata_Plot: 'north' });
    await add(plots(ROWS, { experimentQuestionId: 'never_asked' }));
    expect((await read({ columns: 'treatment' }))[0]).toEqual({ treatment: null });
    await clear();
  });

  test('of hostile names and texts is only text', async () => {
    const hostile = `'; drop table "x"; -- {"a": 1}`;
    await add(plots([{ _id: '1', c1: 'P0', c2: hostile, c3: 'NaN', c4: 'yesterday' }]));
    const [row] = await read({ columns: 'treatment,area,sown_on' });
    expect(row).toEqual({ treatment: hostile, area: null, sown_on: null });
    await clear();
  });

  test('that the lake was never told of is told by the nightly job', async () => {
    const other = (await owner('POST', '/api/v1/experiments', { body: { name: 'Older', organizationId: site.cast.leafLab } })).body.id;
    const { db } = site;
    const metadata = JSON.stringify(plots(ROWS));
    await db.run(sql('test')`
      insert into metadata_records (id, experiment_id, metadata, size, created_by) values (gen_random_uuid(), ${other}, ${metadata}, 10, ${site.cast.owner.id}),
        (gen_random_uuid(), ${other}, '{"rows": 7, "columns": {"a": 1}}', 2, ${site.cast.owner.id})`);
    const versions = () =>
      db.rows(sql('test')`select version from lake_tables where experiment_id = ${other} and kind = 'metadata_record'`);
    expect(await versions()).toEqual([]);
    await refreshMetadataJob(await site.context()).run({}, new AbortController().signal);
    expect(await versions()).toEqual([{ version: 1 }]);
    const rows = await owner('GET', `/api/v1/experiments/${other}/data`, { query: { tableName: 'raw_data', columns: 'treatment' } });
    expect(rows).toMatchObject({ status: 200 });
  });

  test('that has no rows is told to the lake, so that the nightly job looks for it no more', async () => {
    const other = (await owner('POST', '/api/v1/experiments', { body: { name: 'Empty', organizationId: site.cast.leafLab } })).body.id;
    const made = await owner('POST', `/api/v1/experiments/${other}/metadata`, { body: { metadata: plots([]) } });
    expect(made.status, made.text).toBe(201);
    const [told] = await site.db.rows<{ version: number }>(sql('test')`
      select version from lake_tables where experiment_id = ${other} and kind = 'metadata_record'`);
    expect(told?.version).toBeGreaterThan(0);
  });

  test('is changed by two at once, and both changes stay', async () => {
    const made = await Promise.all([add(plots(ROWS)), add(devices), add(plots([{ _id: '1', c1: 'P2', c2: 'third' }]))]);
    expect(made).toHaveLength(3);
    const [row] = await read({ columns: 'operator,area', filters: JSON.stringify([{ column: 'plot', operator: 'equals', value: 'P0' }]) });
    expect(row).toEqual({ operator: 'Ada', area: 2.5 });
    await clear();
  });
});
