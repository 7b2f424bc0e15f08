/**
 * A lab's story, through HTTP alone: 5,000 measurements that name no macro, then one is written, run over them, edited, run again, grouped by
 * genotype, drawn as mean ± standard error and exported as a workbook that openpyxl reads. Needs Python and a package index.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { pythonWith } from '../support/python.ts';

const MEASUREMENTS = 5_000;
const GENOTYPES = ['B73', 'Mo17', 'W22', 'Oh43', 'CML247'];

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-story-'));
let site: BuiltSite;
let experiment: string;
let macro: string;
beforeAll(async () => {
  site = await startBuiltSite({ MACRO_LANGUAGES: 'javascript' });
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const make = async (path: string, body: object) => {
  const made = await site.owner('POST', `/api/v1${path}`, { body });
  expect(made.status, made.text).toBe(201);
  return made.body;
};
const genotypeOf = (n: number) => GENOTYPES[n % GENOTYPES.length]!;
const fsOf = (n: number) => 200 + (n % 97);
const fmOf = (n: number) => 900 + 3 * (n % 89) + 40 * (n % GENOTYPES.length);
const measurements = Array.from({ length: MEASUREMENTS }, (_, n) => ({
  timestamp: new Date(Date.UTC(2026, 5, 1) + n * 60_000).toISOString(),
  device_id: `D${n % 7}`,
  sample: { fs: fsOf(n), fm: fmOf(n) },
  questions: [{ question_label: 'Genotype', question_text: 'Which?', question_answer: genotypeOf(n) }],
}));

const readRows = async (query: Record<string, string>) => {
  const { status, body, text } = await site.owner('GET', `${experiment}/data?${new URLSearchParams(query).toString()}`);
  expect(status, text).toBe(200);
  return { totalRows: body[0].totalRows as number, rows: body[0].data.rows as Record<string, unknown>[] };
};

/** Runs the macro over what is there and waits for its end; the run as it then stands. */
const run = async (body: object) => {
  const begun = await site.owner('POST', `${experiment}/macros/${macro}/run`, { body });
  expect(begun.status, begun.text).toBe(201);
  const path = `${experiment}/data/macros/${macro}/reprocess/${String(begun.body.id)}`;
  const state = async () => (await site.owner('GET', path)).body as { status: string };
  await expect.poll(async () => (await state()).status, { timeout: 120_000 }).toMatch(/completed|failed/);
  return state();
};

/** Mean and standard error by genotype, as `phi2` of each measurement makes them. */
const expected = (phi2: (n: number) => number) =>
  new Map(
    GENOTYPES.map((genotype) => {
      const values = measurements
        .map((_, n) => n)
        .filter((n) => genotypeOf(n) === genotype)
        .map(phi2);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
      return [genotype, { n: values.length, mean, sem: Math.sqrt(variance / values.length) }];
    }),
  );
const byGenotype = JSON.stringify({
  groupBy: [{ column: 'genotype' }],
  functions: [
    { column: '*', function: 'count', alias: 'n' },
    { column: 'phi2', function: 'avg', alias: 'mean' },
    { column: 'phi2', function: 'sem', alias: 'sem' },
  ],
});
const expectGroups = async (phi2: (n: number) => number) => {
  const wanted = expected(phi2);
  const { rows } = await readRows({ tableName: macro, aggregation: byGenotype });
  expect(rows).toHaveLength(wanted.size);
  for (const row of rows) {
    const { n, mean, sem } = wanted.get(String(row.genotype))!;
    expect(row.n).toBe(n);
    expect(row.mean).toBeCloseTo(mean, 9);
    expect(row.sem).toBeCloseTo(sem, 9);
  }
};

const PRINT = `
import json, sys
import openpyxl
book = openpyxl.load_workbook(sys.argv[1], read_only=True)
print(json.dumps([[str(row[0]), *row[1:]] for row in book.active.iter_rows(values_only=True)]))
`;

test('measured first, analysed afterwards', async () => {
  const { leafLab } = site.cast;
  experiment = `/api/v1/experiments/${String((await make('/experiments', { name: 'Drought', organizationId: leafLab })).id)}`;
  const signed = await make('/iot/upload-url', { experimentId: experiment.split('/').at(-1) });
  const body = gzipSync(measurements.map((one) => JSON.stringify(one)).join('\n'));
  const put = await fetch(signed.uploadUrl, { method: 'PUT', headers: signed.headers, body });
  expect(put.status, await put.text()).toBe(200);
  await expect
    .poll(async () => (await readRows({ tableName: 'raw_data', pageSize: '1' })).totalRows, { timeout: 60_000 })
    .toBe(MEASUREMENTS);

  macro = (
    await make('/macros', { name: 'Phi2', language: 'javascript', organizationId: leafLab, code: 'return { phi2: json.fs / json.fm };' })
  ).id;
  expect(await run({})).toMatchObject({ status: 'completed', totalRows: MEASUREMENTS, doneRows: MEASUREMENTS, failedRows: 0 });
  await expectGroups((n) => fsOf(n) / fmOf(n));

  // that was not the quantum yield
  const code = 'const output = {};\noutput.phi2 = (json.fm - json.fs) / json.fm;\nreturn output;';
  expect((await site.owner('PUT', `/api/v1/macros/${macro}`, { body: { code } })).status).toBe(200);
  expect(await run({})).toMatchObject({ status: 'completed', totalRows: MEASUREMENTS, doneRows: MEASUREMENTS, failedRows: 0 });
  const phi2 = (n: number) => (fmOf(n) - fsOf(n)) / fmOf(n);
  await expectGroups(phi2);
  expect((await readRows({ tableName: macro, pageSize: '1' })).totalRows).toBe(MEASUREMENTS);

  const drawn = await make(`${experiment.slice('/api/v1'.length)}/visualizations`, {
    name: 'Phi2 by genotype',
    chartFamily: 'basic',
    chartType: 'bar',
    config: { title: 'Quantum yield', y: { title: 'Phi2 ± SE' } },
    dataConfig: {
      tableName: macro,
      dataSources: [
        { tableName: macro, columnName: 'genotype', role: 'x' },
        { tableName: macro, columnName: 'phi2', role: 'y', aggregate: 'avg', error: 'sem' },
      ],
    },
  });
  const picture = await site.owner('GET', `${experiment}/visualizations/${String(drawn.id)}/image`);
  expect(picture.status, picture.text).toBe(200);
  for (const word of [...GENOTYPES, 'Quantum yield', 'Phi2 ± SE']) expect(picture.text).toContain(`>${word}</text>`);
  const { body: shown } = await site.owner('GET', `${experiment}/visualizations/${String(drawn.id)}/data`);
  const wanted = expected(phi2);
  const { x, y, error } = shown.series[0].points as { x: string[]; y: number[]; error: number[] };
  expect(x).toEqual(GENOTYPES.toSorted());
  x.forEach((genotype, at) => {
    expect(y[at]).toBeCloseTo(wanted.get(genotype)!.mean, 9);
    expect(error[at]).toBeCloseTo(wanted.get(genotype)!.sem, 9);
  });

  const begun = await make(`${experiment.slice('/api/v1'.length)}/data/exports`, {
    tableName: macro,
    format: 'xlsx',
    columns: 'timestamp,genotype,phi2',
    orderBy: 'timestamp',
  });
  const state = async () => (await site.owner('GET', `${experiment}/data/exports/${String(begun.exportId)}/status`)).body;
  await expect.poll(async () => (await state()).status, { timeout: 60_000 }).toMatch(/completed|failed/);
  const file = await site.owner('GET', `${experiment}/data/exports/${String(begun.exportId)}`);
  const path = join(folder, 'phi2.xlsx');
  writeFileSync(path, file.bytes);
  const python = join(pythonWith('openpyxl'), 'python');
  const printed = JSON.parse(execFileSync(python, ['-c', PRINT, path]).toString('utf8')) as unknown[][];
  expect(printed[0]).toEqual(['timestamp', 'genotype', 'phi2']);
  expect(printed.slice(1).map(([, genotype, value]) => [genotype, value])).toEqual(measurements.map((_, n) => [genotypeOf(n), phi2(n)]));
});
