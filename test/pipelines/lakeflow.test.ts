import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { lakeflow, onDatabricks } from '../../scripts/lakeflow.ts';

const PIPELINES = join(import.meta.dirname, '..', '..', 'pipelines');

test('the declared pipeline is what the headers and steps say now', () => {
  for (const [name, text] of Object.entries(lakeflow(PIPELINES)))
    expect(text, `${name}: run npm run lakeflow`).toBe(readFileSync(join(PIPELINES, 'databricks', name), 'utf8'));
});

test('the README leads to every step, and to nothing that is not there', () => {
  const linked = [...readFileSync(join(PIPELINES, 'README.md'), 'utf8').matchAll(/\]\(([^)]+\.sql)\)/g)].map(([, path]) => path);
  const steps = readdirSync(PIPELINES, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.sql'));
  expect(linked.sort()).toEqual(steps.sort());
});

test('the bundle is YAML and names the file', () => {
  const bundle = parse(lakeflow(PIPELINES)['databricks.yml'] ?? '') as { resources: { pipelines: { fieldlake: { libraries: unknown } } } };
  expect(bundle.resources.pipelines.fieldlake.libraries).toStrictEqual([{ file: { path: 'lakeflow.sql' } }]);
});

test('a step that only DuckDB reads is refused', () => {
  expect(onDatabricks("select a::double as a from bronze_records", 'b')).toBe('select try_cast(a as double) as a from b');
  expect(() => onDatabricks("select strftime(a, '%Y') as a from bronze_records", 'b')).toThrow("Only DuckDB reads 'strftime'");
});
