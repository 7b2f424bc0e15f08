import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';
import { describeSubject, Drawing, everythingDrawn, FLAGS, type Asked, type Subject } from '../support/questions.ts';
import { seededRandom } from '../support/random.ts';
import type { Answer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

const IS_SOAK = process.env['SOAK'] === '1';
const STATES = IS_SOAK ? 200 : 20;
/** Rows that are read from a grid: past the first page, and not to the end of a long table. */
const MOST_ROWS = 130;
const ROW_HEIGHT = 33;

interface Row {
  [column: string]: unknown;
}
interface Told {
  version: number;
  columns: { name: string; type_name: string; type_text: string }[];
  total: number;
  rows: Row[];
}
interface Shown {
  columns: { name: string; type: string; sort: string }[];
  /** Text of each cell, and whether it stands for nothing. */
  rows: [text: string, isNothing: boolean][][];
  total: number;
}

const TABLE = 'kinds';
let site: Console;
let owner: Visitor;
let subjects: Subject[];
let data: string;

/** Values of each kind with what goes wrong most: nothing, empty text, text that looks like something else, numbers beyond a double. */
const lineOf = (n: number) =>
  `{"n":${n},"plot":${n % 7},"spad":${n % 9 === 0 ? 'null' : 20 + n / 8},"tiny":${(n - 100) / 1e9},"big":${9_007_199_254_740_993n + BigInt(n)},"label":${JSON.stringify(
    ['', null, 'a "b" \\ c', '5', 'Ärger & Söhne', ' spaced ', 'true', '=1+1'][n % 8],
  )},"measured_at":${n % 11 === 0 ? 'null' : `"2026-05-${String(1 + (n % 19)).padStart(2, '0')}T0${n % 10}:10:00.${String(n % 1000).padStart(3, '0')}Z"`},"day":"2026-0${1 + (n % 9)}-03","valid":${
    ['true', 'false', 'null'][n % 3]
  },"doc":{"name":"doc ${n % 5}","deep":{"v":${n % 13}}},"list":${['[1,2]', '[]', 'null'][n % 3]}}`;
const linesOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => lineOf(from + at)).join('\n');

beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
  const { experimentId } = site.sample;
  data = `/api/v1/experiments/${experimentId}/data`;
  const table = await uploadTable(site.owner, experimentId, TABLE, linesOf(1, 250), 'ndjson');
  const { body } = await site.owner('GET', data, { query: { tableName: table, columns: '["id"]', limit: 30 } });
  const ids = (body[0].data.rows as { id: string }[]).map(({ id }) => id);
  for (const [at, content] of [{ type: 'comment', text: 'seen' }, ...FLAGS.map((flagType) => ({ type: 'flag', flagType }))].entries()) {
    const rowIds = ids.filter((_, row) => row % 4 === at);
    const annotation = { type: content.type, content };
    const made = await site.owner('POST', `${data}/annotations/bulk`, { body: { tableName: table, rowIds, annotation } });
    expect(made.status, made.text).toBe(201);
  }
  await appendTo(
    site.owner,
    experimentId,
    table,
    `n,plot,label\n${Array.from({ length: 40 }, (_, at) => `${251 + at},${at % 5},new`).join('\n')}\n`,
  );
  const last = (await site.owner('GET', data, { query: { tableName: table, limit: 1 } })).headers.get('x-table-version');
  subjects = await Promise.all([
    describeSubject(site.owner, experimentId, TABLE, {
      versions: [1, Number(last) - 1, Number(last)],
      members: { 'contributor.name': 'text', 'doc.name': 'text', 'doc.deep.v': 'number' },
    }),
    describeSubject(site.owner, experimentId, 'leaf_measurements'),
    describeSubject(site.owner, experimentId, 'weather'),
  ]);
});
afterAll(() => site.stop());

/** What of a question the API is asked, said anew here: the console has its own way from the address to the API. */
function queryOf(
  { identifier }: Subject,
  { columns, orderBy, orderDirection, filters, aggregation, asOf }: Asked,
): Record<string, string | number> {
  const query: Record<string, string | number> = { tableName: identifier };
  if (columns !== undefined && aggregation === undefined) query['columns'] = JSON.stringify(columns);
  if (orderBy !== undefined) Object.assign(query, { orderBy, orderDirection: orderDirection ?? 'ASC' });
  if (filters !== undefined) query['filters'] = JSON.stringify(filters);
  if (aggregation !== undefined) query['aggregation'] = JSON.stringify(aggregation);
  if (asOf !== undefined) query['asOf'] = asOf;
  return query;
}
const addressOf = ({ identifier }: Subject, asked: Asked) =>
  `${site.baseUrl}/experiments/${site.sample.experimentId}/tables/${identifier}?${new URLSearchParams(
    Object.entries(asked).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString()}`;

const toldBy = (answer: Answer, rows: Row[] = answer.body[0].data.rows): Told => ({
  version: Number(answer.headers.get('x-table-version')),
  columns: answer.body[0].data.columns,
  total: answer.body[0].totalRows,
  rows,
});

/** Asks the API itself, in one of the forms in which it gives pages; a refusal is answered as it came. */
async function ask(drawing: Drawing, query: Record<string, string | number>, isAggregate: boolean): Promise<Told | Answer> {
  const read = (more: Record<string, string | number> = {}) => site.owner('GET', data, { query: { ...query, format: 'json', ...more } });
  const form = isAggregate ? 'whole' : drawing.pick(['pages', 'cursors', 'limit'] as const);
  if (form === 'whole') {
    const answer = await read();
    return answer.status === 200 ? toldBy(answer) : answer;
  }
  if (form === 'limit') {
    // rows up to a limit do not say how many match in all
    const [answer, first] = [await read({ limit: MOST_ROWS }), await read({ pageSize: 1 })];
    return answer.status === 200 ? { ...toldBy(answer), total: first.body[0].totalRows } : answer;
  }
  const pageSize = drawing.pick([17, 40, 99]);
  const first = await read({ pageSize });
  if (first.status !== 200) return first;
  const rows: Row[] = [...first.body[0].data.rows];
  for (let last = first, page = 2; rows.length < MOST_ROWS; page += 1) {
    const cursor = /[?&]cursor=([\w-]+)>?[^<]*rel="next"/.exec(
      (last.headers.get('link') ?? '').split(', ').find((link) => link.includes('"next"')) ?? '',
    )?.[1];
    if (cursor === undefined) break;
    last = await read(form === 'pages' ? { pageSize, page } : { pageSize, cursor });
    rows.push(...last.body[0].data.rows);
  }
  return toldBy(first, rows);
}

/** Goes through a grid from its first row down, and across, and reads what stands there: of a number that is shown with fewer digits all of them. */
const READ_GRID = `async (most) => {
  const grid = document.querySelector('.grid');
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const before = grid.querySelector('.grid-choice[role=columnheader]') === null ? 0 : 1;
  const [total, width] = [Number(grid.ariaRowCount ?? grid.getAttribute('aria-rowcount')) - 1, Number(grid.getAttribute('aria-colcount')) - before];
  const [columns, rows] = [[], []];
  const wanted = Math.min(total, most);
  const lacks = (at) => Array.from({ length: width }, (_, column) => rows[at]?.[column]).includes(undefined);
  const end = performance.now() + 60000;
  for (let at = 0; at < wanted; ) {
    grid.scrollTop = at * ${ROW_HEIGHT};
    for (let left = 0; left <= grid.scrollWidth; left += grid.clientWidth / 2) {
      grid.scrollLeft = left;
      await frame();
      for (const head of grid.querySelectorAll('[role=columnheader]:not(.grid-choice)'))
        columns[head.ariaColIndex - 1 - before] = { name: head.querySelector('.grid-name').firstChild.textContent, type: head.querySelector('.grid-type').textContent, sort: head.getAttribute('aria-sort') };
      for (const cell of grid.querySelectorAll('[role=gridcell]:not(.grid-choice)')) {
        const row = cell.parentElement.ariaRowIndex - 2;
        rows[row] ??= [];
        rows[row][cell.ariaColIndex - 1 - before] = [cell.querySelector('data')?.value ?? cell.textContent, cell.querySelector('.cell-null') !== null];
      }
    }
    grid.scrollLeft = 0;
    while (at < wanted && !lacks(at)) at += 1;
    if (performance.now() > end) break;
  }
  return { columns, rows: Array.from(rows.slice(0, wanted), (row) => row ?? []), total };
}`;

const WHAT_IS_THERE = `document.querySelector('main [role=alert]') ? 'refused' : document.querySelector('main .panel.empty') ? 'empty'
  : document.querySelector('.grid[aria-busy=false] [role=gridcell]') ? 'grid' : null`;

type Seen = { kind: 'grid'; shown: Shown } | { kind: 'empty' } | { kind: 'refused'; text: string };

/** Opens an address and reads what the page shows for it. */
async function see(page: Page, address: string): Promise<Seen> {
  await page.goto(address);
  const find = () => page.evaluate<Seen['kind'] | null>(WHAT_IS_THERE);
  await expect.poll(find).not.toBeNull();
  const kind = await find();
  if (kind === 'refused') return { kind, text: await page.locator('main [role=alert]').first().innerText() };
  if (kind === 'empty') return { kind };
  return { kind: 'grid', shown: await page.evaluate<Shown>(`(${READ_GRID})(${MOST_ROWS})`) };
}

/** How docs/console.md says that a value is shown, and whether that stands for nothing. */
function textOf(value: unknown, { name: column, type_name: type }: Told['columns'][number]): [string, boolean] {
  if (value === null || value === undefined) return ['null', true];
  if (value === '') return ['""', true];
  if (column === 'annotations' && Array.isArray(value) && value.length > 0) {
    const flags = (value as { content: { flagType: string | null } }[]).map(({ content }) => content.flagType);
    return [[...new Set(flags)].map((flag) => flag?.replace('_', ' ') ?? 'a comment').join(', '), false];
  }
  if (Array.isArray(value)) return value.length === 0 ? ['[]', true] : [value.length === 1 ? '1 entry' : `${value.length} entries`, false];
  if (typeof value === 'object') {
    const { name } = value as Row;
    return [type === 'STRUCT' && typeof name === 'string' ? name : JSON.stringify(value), false];
  }
  if (typeof value !== 'string') return [JSON.stringify(value), false];
  if (!type.startsWith('TIMESTAMP')) return [value, false];
  const [day = '', time = ''] = value.replace(/Z$/, '').split('T');
  const [seconds = '', fraction = ''] = time.split('.');
  const exact = fraction.replace(/0+$/, '');
  return [`${day} ${seconds}${exact === '' ? '' : `.${exact}`}`, false];
}

/** What the head of a column says of each type. */
const TYPES: Readonly<Record<string, string>> = {
  STRING: 'text',
  INT: 'whole number',
  BIGINT: 'large whole number',
  DOUBLE: 'number',
  DECIMAL: 'exact number',
  BOOLEAN: 'true or false',
  DATE: 'day',
  TIMESTAMP: 'moment',
  TIMESTAMP_NTZ: 'time',
  ARRAY: 'list',
  STRUCT: 'document',
  VARIANT: 'document',
};
const GIVEN = ['id', 'uploaded_at', 'contributor', 'annotations'];
/** What the grid should show for what the API told. */
function expectedOf(told: Told, { columns, orderBy, orderDirection = 'ASC', aggregation }: Asked): Shown {
  // days and longer are named by their date in their zone
  const zones = new Map(
    aggregation?.groupBy
      .filter(({ timeBucket }) => timeBucket !== undefined && timeBucket !== 'hour' && timeBucket !== 'minute')
      .map(({ column, timeBucket, timezone = 'UTC' }) => [`${column}_${timeBucket}`, timezone]),
  );
  const shownOf = (value: unknown, column: Told['columns'][number]): [string, boolean] => {
    const timeZone = zones.get(column.name);
    if (timeZone === undefined || typeof value !== 'string' || !column.type_name.startsWith('TIMESTAMP')) return textOf(value, column);
    if (!value.endsWith('Z')) return [value.slice(0, 10), false];
    return [new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date(value)), false];
  };
  const isGiven = ({ name }: { name: string }) => GIVEN.includes(name);
  const ordered =
    columns === undefined
      ? [
          ...told.columns.filter((column) => !isGiven(column)),
          ...GIVEN.flatMap((name) => told.columns.filter((column) => column.name === name)),
        ]
      : told.columns;
  return {
    columns: ordered.map(({ name, type_name: kind }) => ({
      name,
      type: `${TYPES[kind]}${kind === 'TIMESTAMP' && !zones.has(name) ? ' UTC' : ''}`,
      sort: name === orderBy ? { ASC: 'ascending', DESC: 'descending' }[orderDirection] : 'none',
    })),
    rows: told.rows.slice(0, MOST_ROWS).map((row) => ordered.map((column) => shownOf(row[column.name], column))),
    total: told.total,
  };
}

const isTold = (told: Told | Answer): told is Told => 'rows' in told;
/** Text with its fractions to twelve digits: two threads add a group's rows up in any order, and the last digits are those of the order. */
const rounded = (text: string) => text.replaceAll(/-?\d+\.\d+(e[+-]?\d+)?/g, (number) => Number(number).toPrecision(12));
const sorted = (rows: readonly unknown[][]) => rows.map((row) => rounded(JSON.stringify(row))).sort();

/** The chart that the page leads to has the groups that the grid shows. */
async function compareChart(page: Page, asked: Asked, told: Told): Promise<void> {
  const [response] = await Promise.all([
    page.waitForResponse((each) => /\/chart\?.*format=vega-lite/.test(each.url())),
    page.getByRole('link', { name: 'Chart this' }).click(),
  ]);
  const spec = await response.text();
  expect(response.status(), spec).toBe(200);
  await page.locator('.drawing svg').first().waitFor();
  const { groupBy, functions } = asked.aggregation!;
  const keys = told.columns.slice(0, groupBy.length).map(({ name }) => name);
  const measure = told.columns[groupBy.length]!.name;
  expect(functions.length).toBe(1);
  const points: Row[] = [];
  const collect = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(collect);
    else if (typeof part === 'object' && part !== null)
      for (const [name, inner] of Object.entries(part))
        if (name === 'values' && Array.isArray(inner)) points.push(...(inner as Row[]));
        else collect(inner);
  };
  collect(JSON.parse(spec));
  const text = (value: unknown) =>
    value === null || value === undefined || typeof value === 'string' ? (value ?? null) : JSON.stringify(value);
  // days and longer of a zone stand at their date there
  const { timeBucket, timezone } = groupBy[0] ?? {};
  const isDated = timezone !== undefined && timeBucket !== 'hour' && timeBucket !== 'minute';
  const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone ?? 'UTC' });
  const place = (value: unknown) =>
    isDated && typeof value === 'string' && value.includes('T') ? `${dates.format(new Date(value))}T00:00:00.000Z` : text(value);
  // the first key stands below the bars, the others are in the names of series and facets
  expect(
    sorted(points.filter((point) => 'y' in point).map((point) => [...(keys.length === 0 ? [] : [text(point['x'])]), point['y']])),
  ).toEqual(sorted(told.rows.map((row) => [...keys.slice(0, 1).map((key) => place(row[key])), row[measure]])));
}

/** The file that is made of what the grid shows is what the API streams. */
async function compareExport(page: Page, kind: 'csv' | 'ndjson', query: Record<string, string | number>, told: Told): Promise<void> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export what the grid shows' });
  await dialog.getByLabel('Kind of file').selectOption(kind);
  await dialog.getByRole('button', { name: 'Make the file' }).click();
  await dialog.getByText('ready', { exact: true }).waitFor({ timeout: 60_000 });
  const button = dialog.getByRole('button', { name: /^Download/ });
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const streamed = await site.owner('GET', data, { query: { ...query, asOf: told.version, format: kind } });
  const same = query['aggregation'] === undefined ? (text: string) => text : rounded;
  expect(same(readFileSync(await file.path(), 'utf8'))).toBe(same(streamed.text));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

const roundedIn = (shown: Shown): Shown => ({
  ...shown,
  rows: shown.rows.map((row) => row.map(([text, isNothing]) => [rounded(text), isNothing])),
});

/** What two readings of the same differ in, short enough to be read. */
function differenceOf(seen: Shown, expected: Shown): string | null {
  if (isDeepStrictEqual(seen, expected)) return null;
  if (seen.total !== expected.total) return `${seen.total} rows in all, and not ${expected.total}`;
  if (!isDeepStrictEqual(seen.columns, expected.columns))
    return `columns ${JSON.stringify(seen.columns)}, and not ${JSON.stringify(expected.columns)}`;
  const row = expected.rows.findIndex((each, at) => !isDeepStrictEqual(each, seen.rows[at]));
  const cell = expected.rows[row]?.findIndex((each, at) => !isDeepStrictEqual(each, seen.rows[row]?.[at])) ?? 0;
  return `row ${row}, ${expected.columns[cell]?.name}: ${JSON.stringify(seen.rows[row]?.[cell])}, and not ${JSON.stringify(expected.rows[row]?.[cell])}`;
}

test(`shows what the API says in ${STATES} random states of the address`, { timeout: STATES * 30_000 }, async () => {
  const { page, complaints } = owner;
  const drawing = new Drawing(seededRandom());
  const differences: string[] = [];
  const counts = { grid: 0, empty: 0, refused: 0, charts: 0, files: 0 };
  for (let state = 0; state < STATES; state += 1) {
    // most of them of the table that has something of every kind
    const subject = drawing.chance(0.7) ? subjects[0]! : drawing.pick(subjects);
    const asked = drawing.draw(subject);
    const query = queryOf(subject, asked);
    const told = await ask(drawing, query, asked.aggregation !== undefined);
    const address = addressOf(subject, asked);
    const note = (what: string) => differences.push(`${what}\n  ${JSON.stringify(asked)}\n  ${address}`);
    const seen = await see(page, address);
    counts[seen.kind] += 1;
    if (!isTold(told)) {
      const said = String(told.body.detail ?? '').split('.')[0] ?? '';
      if (seen.kind !== 'refused' || !seen.text.includes(said))
        note(`refused with ${told.text}, and the page shows ${JSON.stringify(seen).slice(0, 300)}`);
      continue;
    }
    if (told.rows.length === 0) {
      if (seen.kind !== 'empty') note(`no rows, and the page shows ${JSON.stringify(seen).slice(0, 300)}`);
      continue;
    }
    if (seen.kind !== 'grid') {
      note(`${told.total} rows, and the page shows ${JSON.stringify(seen).slice(0, 600)}`);
      continue;
    }
    const expected = expectedOf(told, asked);
    const difference =
      asked.aggregation === undefined ? differenceOf(seen.shown, expected) : differenceOf(roundedIn(seen.shown), roundedIn(expected));
    if (difference !== null) note(difference);
    const chips = await page
      .locator('.tools')
      .getByRole('button', { name: /^Take away: / })
      .count();
    if (chips !== (asked.filters ?? []).length) note(`${chips} filters are named`);
    const said = (await page.locator('.same pre').first().textContent()) ?? '';
    const again = await site.owner('GET', said.slice(site.baseUrl.length), { headers: { accept: 'application/json' } });
    if (!isDeepStrictEqual(again.body?.[0]?.data.columns, told.columns) || again.body[0].totalRows !== told.total)
      note(`the same question is said as ${said}`);
    try {
      if (state % 4 === 1) {
        counts.files += 1;
        await compareExport(page, drawing.pick(['csv', 'ndjson'] as const), query, told);
      }
      const isCharted =
        asked.aggregation?.functions.length === 1 &&
        told.rows.every((row) => typeof row[told.columns[asked.aggregation!.groupBy.length]!.name] === 'number');
      if (isCharted) {
        counts.charts += 1;
        await compareChart(page, asked, told);
      }
    } catch (error) {
      note(error instanceof Error ? error.message : String(error));
    }
  }
  console.log(JSON.stringify(counts));
  expect(differences.join('\n\n')).toBe('');
  // refusals of what was drawn are told by the browser as well
  expect(complaints.filter((each) => !/status of 400/.test(each))).toEqual([]);
  expect(counts.grid).toBeGreaterThan(STATES / 2);
  expect(counts.charts * counts.files).toBeGreaterThan(0);
  if (IS_SOAK) expect(everythingDrawn(subjects).filter((each) => !drawing.had.has(each))).toEqual([]);
});
