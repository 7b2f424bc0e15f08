import { expect, test } from 'vitest';
import { BIGINT, DATE, decimal, array, STRING, struct, TIMESTAMP, TIMESTAMP_NTZ, VARIANT } from '../../src/lakehouse/catalog.ts';
import { deltaLog, deltaType } from '../../src/lakehouse/delta.ts';

const table = (names: readonly string[], type = STRING as Parameters<typeof deltaType>[0]) => ({
  id: crypto.randomUUID(),
  name: 't',
  description: 'd',
  columns: names.map((name) => ({ name, type })),
  files: [{ path: 'a.parquet', byteCount: 10, rowCount: 2, modifiedAt: 5 }],
  createdAt: 7,
});
const actions = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, any>);

test('types have their Delta names, inside lists and structs too', () => {
  expect([BIGINT, DATE, decimal(10, 2), STRING, TIMESTAMP, TIMESTAMP_NTZ, VARIANT].map(deltaType)).toEqual([
    'long',
    'date',
    'decimal(10,2)',
    'string',
    'timestamp',
    'timestamp_ntz',
    'string',
  ]);
  expect(deltaType(array(struct({ n: BIGINT })))).toEqual({
    type: 'array',
    elementType: { type: 'struct', fields: [{ name: 'n', type: 'long', nullable: true, metadata: {} }] },
    containsNull: true,
  });
});

test('a log asks of a reader only what its columns need', () => {
  const [, plain, , add] = actions(deltaLog(table(['a', 'Ü.b'])));
  expect(plain).toEqual({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } });
  expect(add?.['add']).toMatchObject({ path: 'a.parquet', size: 10, modificationTime: 5, dataChange: true, stats: '{"numRecords":2}' });
  const [, local] = actions(deltaLog(table(['a'], TIMESTAMP_NTZ)));
  expect(local?.['protocol'].readerFeatures).toEqual(['timestampNtz']);
  const [, mapped, metadata] = actions(deltaLog(table(['a', 'b (c), d'])));
  expect(mapped?.['protocol'].readerFeatures).toEqual(['columnMapping']);
  expect(metadata?.['metaData'].configuration).toEqual({ 'delta.columnMapping.mode': 'name', 'delta.columnMapping.maxColumnId': '2' });
  expect(JSON.parse(metadata?.['metaData'].schemaString as string).fields[1]).toEqual({
    name: 'b (c), d',
    type: 'string',
    nullable: true,
    metadata: { 'delta.columnMapping.id': 2, 'delta.columnMapping.physicalName': 'b (c), d' },
  });
});
