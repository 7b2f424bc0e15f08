import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makePerson } from '../support/cast.ts';
import { eventually } from '../support/crashes.ts';
import { sharedSite, spawnServer } from '../support/process.ts';

const root = mkdtempSync(join(tmpdir(), 'fieldlake-whole-way-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const OBJECTS = 12;
const LINES = 100;
const FIRST_CODE = 'return { yield: (json.fm - json.f0) / json.fm };';
const EDITED_CODE =
  'if (json.fm === 0) throw new Error("no light"); return { yield: Math.round(1000 * (json.fm - json.f0) / json.fm) / 1000 };';

/** What an instrument sends: an object's lines, with a broken one and one without a time among them. */
const linesOf = (object: number, macroId: string): string[] => {
  const lines = Array.from({ length: LINES }, (_, n) =>
    JSON.stringify({
      timestamp: new Date(Date.UTC(2026, 5, 1, 2 * object, n)).toISOString(),
      device_id: `leaf-${(object + n) % 4}`,
      sample: { f0: 100 + ((object * 31 + n * 7) % 50), fm: n % 25 === 24 ? 0 : 500 + ((object * 17 + n * 13) % 300) },
      macros: [{ id: macroId }],
    }),
  );
  lines[10] = lines[10]!.slice(0, 40);
  lines[20] = lines[20]!.replace(/"timestamp":"[^"]*"/, '"timestamp":"noon"');
  return lines;
};

interface Expected {
  /** By the time of the measurement. */
  rows: Map<string, { device: string; yield: number | null }>;
  refused: number;
}

/** Reads the raw messages, and nothing else, as somebody would who checks the service: each line once. */
function reconciled(folder: string): Expected {
  const rows: Expected['rows'] = new Map();
  let refused = 0;
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        refused += 1;
        continue;
      }
      if (Number.isNaN(Date.parse(message.timestamp))) {
        refused += 1;
        continue;
      }
      const { f0, fm } = message.sample;
      rows.set(message.timestamp, { device: message.device_id, yield: fm === 0 ? null : Math.round((1000 * (fm - f0)) / fm) / 1000 });
    }
  return { rows, refused };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('the whole way: messages, a chart that is watched, a macro that is edited and run again, an export, and books that agree', async () => {
  const site = await sharedSite();
  const server = await spawnServer({ ...site.environment, MACRO_LANGUAGES: 'javascript' });
  const sent = mkdtempSync(join(root, 'sent-'));
  try {
    const { apiKey } = await makePerson(site.database.db, 'owner');
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
        method,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
      return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
    };

    const experimentId: string = (await call('POST', '/experiments', { name: 'The whole way' })).id;
    const macroId: string = (await call('POST', '/macros', { name: 'Yield', language: 'javascript', code: FIRST_CODE })).id;
    const experiment = `/experiments/${experimentId}`;

    // messages in, the first object twice
    for (let object = 0; object < OBJECTS; object += 1) {
      const file = join(sent, `${object}.ndjson`);
      writeFileSync(file, linesOf(object, macroId).join('\n'));
      for (let times = object === 0 ? 2 : 1; times > 0; times -= 1) {
        const { uploadUrl, headers } = await call('POST', '/iot/upload-url', { experimentId });
        expect((await fetch(uploadUrl, { method: 'PUT', headers, body: readFileSync(file) })).status).toBe(200);
      }
    }
    const { rows, refused } = reconciled(sent);
    const tables = async () =>
      new Map<string, number>(
        (await call('GET', `${experiment}/tables`)).map((table: { identifier: string; totalRows: number }) => [
          table.identifier,
          table.totalRows,
        ]),
      );

    // a chart, watched while they come in: it never loses a row
    await eventually(tables, (found) => (found.get(macroId) ?? 0) > 0, 60_000);
    const chart = await call('POST', `${experiment}/visualizations`, {
      name: 'Yield of a leaf',
      chartFamily: 'basic',
      chartType: 'scatter',
      dataConfig: {
        tableName: macroId,
        dataSources: [
          { tableName: macroId, columnName: 'timestamp', role: 'x' },
          { tableName: macroId, columnName: 'yield', role: 'y' },
          { tableName: macroId, columnName: 'device_id', role: 'color' },
        ],
      },
    });
    const plotted = async () => {
      const { series } = await call('GET', `${experiment}/visualizations/${chart.id}/data`);
      return new Map<string, (number | null)[]>(series.map(({ color, points }: any) => [color, points.y]));
    };
    const points = (seen: Map<string, unknown[]>) => [...seen.values()].reduce((sum, { length }) => sum + length, 0);
    let most = 0;
    const watched = await eventually(
      async () => {
        const seen = await plotted();
        expect(points(seen)).toBeGreaterThanOrEqual(most);
        most = points(seen);
        return seen;
      },
      (seen) => points(seen) === rows.size,
      60_000,
    );
    expect(points(watched)).toBe(rows.size);
    const found = await eventually(tables, (now) => now.get('raw_data') === rows.size && now.get(macroId) === rows.size, 60_000);
    expect([found.get('raw_data'), found.get(macroId)]).toEqual([rows.size, rows.size]);

    // the macro is edited and run again, and the chart shows it
    await call('PUT', `/macros/${macroId}`, { code: EDITED_CODE });
    const run = await call('POST', `${experiment}/data/macros/${macroId}/reprocess`, {});
    const done = await eventually(
      () => call('GET', `${experiment}/data/macros/${macroId}/reprocess/${run.id}`),
      ({ status }) => status === 'completed',
      120_000,
    );
    const dark = [...rows.values()].filter(({ yield: value }) => value === null).length;
    expect(done).toMatchObject({ status: 'completed', totalRows: rows.size, doneRows: rows.size, failedRows: dark });
    const after = await plotted();
    for (const [device, values] of after) {
      const wanted = [...rows.values()].filter((row) => row.device === device).map((row) => row.yield);
      expect(values.filter((value) => value === null)).toHaveLength(wanted.filter((value) => value === null).length);
      const isLit = (value: number | null): value is number => value !== null;
      expect(mean(values.filter(isLit))).toBeCloseTo(mean(wanted.filter(isLit)), 9);
    }
    expect([...after.keys()].sort()).toEqual([...new Set([...rows.values()].map(({ device }) => device))].sort());

    // a CSV of it, line for line what the raw messages say
    const { exportId } = await call('POST', `${experiment}/data/exports`, {
      tableName: macroId,
      format: 'csv',
      columns: ['timestamp', 'device_id', 'yield'],
    });
    await eventually(
      () => call('GET', `${experiment}/data/exports/${exportId}/status`),
      ({ status }) => status === 'completed',
      60_000,
    );
    const [header, ...lines] = ((await call('GET', `${experiment}/data/exports/${exportId}`)) as string).trimEnd().split('\n');
    expect(header).toBe('timestamp,device_id,yield');
    const exported = new Map(
      lines.map((line) => {
        const [timestamp = '', device = '', value = ''] = line.trimEnd().split(',');
        return [new Date(timestamp).toISOString(), { device, yield: value === '' ? null : Number(value) }];
      }),
    );
    expect(lines).toHaveLength(rows.size);
    expect(new Map([...exported].sort())).toEqual(new Map([...rows].sort()));

    // what was not stored was set aside, and counted; the second delivery of an object was none
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    expect(Number(/pipeline_measurements_total{outcome="quarantined"} (\d+)/.exec(metrics)?.[1])).toBe(refused);
    expect(rows.size + refused).toBe(OBJECTS * LINES);
  } finally {
    await server.kill('SIGTERM');
    await site.remove();
  }
});
