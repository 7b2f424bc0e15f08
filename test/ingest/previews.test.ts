import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SourceKind } from '../../src/ingest/limits.ts';
import type { ReadingOptions } from '../../src/ingest/typing/readings.ts';
import type { ColumnReport } from '../../src/ingest/typing/decide.ts';
import { previewFile, type ColumnPreview, type FilePreview } from '../../src/ingest/uploads/preview.ts';
import { listColumnsAt } from '../../src/lakehouse/tables/manifest.ts';
import { findTableById } from '../../src/lakehouse/tables/manifest.queries.ts';
import { seeded, seedOf } from '../support/crashes.ts';
import { fixture, openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

interface Sent {
  path: string;
  bytes: string | Buffer;
}

/** Previews files one after the other, as the service does, against a table or as a new one. */
async function preview(
  kind: SourceKind,
  files: readonly Sent[],
  { tableId, isPart = false, options = {} }: { tableId?: string; isPart?: boolean; options?: ReadingOptions } = {},
): Promise<FilePreview[]> {
  const table = tableId === undefined ? undefined : await findTableById(lake.db, tableId);
  let known = table ? await listColumnsAt(lake.db, table.id, table.version) : [];
  const previews: FilePreview[] = [];
  for (const { path, bytes } of files) {
    const folder = join(lake.folder, 'work', 'previews', randomUUID());
    mkdirSync(folder, { recursive: true });
    const original = join(folder, 'original');
    writeFileSync(original, bytes);
    const sha256 = createHash('sha256').update(Buffer.from(bytes as string)).digest('hex');
    const task = { kind, path, original, isPart, sha256, work: folder, options, tableId, known: known };
    const { file, columns } = await previewFile(lake.deps, task).finally(() => rmSync(folder, { recursive: true }));
    known = [...columns];
    previews.push(file);
  }
  return previews;
}

const reported = ({ fit: _fit, form: _form, missingMarks: _marks, examples: _examples, ...line }: ColumnPreview): ColumnReport => line;

/** The part of a preview that is a report, too. */
const asOutcome = ({ reading: _reading, otherColumns: _others, columns, ...outcome }: FilePreview) => ({
  ...outcome,
  columns: columns.map(reported),
});

/** That a preview of these files says what their upload says, into a new table and into one that holds the first of them. */
async function agree(kind: SourceKind, files: readonly Sent[], options: ReadingOptions = {}): Promise<FilePreview[]> {
  const table = await lake.makeTable();
  const before = await lakeFiles();
  const previews = await preview(kind, files, { options });
  expect(await lakeFiles()).toEqual(before);
  const { report } = await lake.ingest(table, kind, files, { reading: options });
  expect(previews.map(asOutcome)).toEqual(report!.files.map((file) => ({ ...file })));
  return previews;
}

const lakeFiles = async () => readdirSync(join(lake.folder, 'lake'), { recursive: true }).filter((path) => String(path).endsWith('.parquet')).sort();

test.each(readdirSync(fixture('')).sort())('of %s the preview says what the report says', async (name) => {
  const kind = name.slice(name.lastIndexOf('.') + 1) as SourceKind;
  await agree(kind, [{ path: name, bytes: readFileSync(fixture(name)) }]);
});
