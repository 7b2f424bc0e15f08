import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { ColumnType } from '../../src/lakehouse/terms/catalog.ts';
import { makeArrowColumn } from '../../src/lakehouse/engines/arrow/columns.ts';
import { appendChunk } from '../../src/lakehouse/engines/duckdb/arrow.ts';

const TYPES: [string, ColumnType][] = [
  ['integer', { kind: 'int' }],
  ['bigint', { kind: 'bigint' }],
  ['double', { kind: 'double' }],
  ['decimal(9, 2)', { kind: 'decimal', precision: 9, scale: 2 }],
  ['decimal(38, 0)', { kind: 'decimal', precision: 38, scale: 0 }],
];

test.each(TYPES)('the place of a missing %s holds nothing of what the engine kept there', async (name, type) => {
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  const bytesOf = async (select: string) => {
    const chunk = (await (await connection.stream(select)).fetchChunk())!;
    const column = makeArrowColumn(type);
    appendChunk([column], [{ type }], chunk);
    const { values, nullCount } = column.finish();
    const { buffer, byteOffset, byteLength } = values as Uint8Array;
    return { nulls: nullCount, bytes: Buffer.from(buffer, byteOffset, byteLength) };
  };
  const kept = await bytesOf(`select (i + 7654321)::${name} from range(100) r(i)`);
  expect(kept.nulls).toBe(0);
  expect(kept.bytes.some((byte) => byte !== 0)).toBe(true);
  // the engine leaves anything in the places of rows that have none before them
  const missing = await bytesOf(`select lag((i + 7654321)::${name}, 100) over (order by i) from range(100) r(i)`);
  expect(missing.nulls).toBe(100);
  expect(missing.bytes.every((byte) => byte === 0)).toBe(true);
  connection.closeSync();
  engine.closeSync();
});
