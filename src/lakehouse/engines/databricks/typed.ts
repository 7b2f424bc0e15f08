/** Turns pages of rows into typed bytes. Values are as the dialect's `typed` prints them, and columns are named as in the statement. */
import { createReadStream } from 'node:fs';
import type { NamedType, TypedOptions } from '../../terms/warehouse.ts';
import { appendValue } from '../arrow/rows.ts';
import { ArrowStream } from '../arrow/stream.ts';
import type { Row } from './statement.ts';
import { ParquetFile } from '../parquet/file.ts';

type Told = TypedOptions['onRows'];

/** Writes an Arrow IPC stream. It holds no more than one page and one batch. */
export async function* writeArrow(pages: AsyncIterable<Row[]>, columns: readonly NamedType[], onRows: Told): AsyncGenerator<Buffer> {
  const stream = new ArrowStream(columns);
  // sends nothing before the first rows are there: a failure until then can still become an error answer
  let head: readonly Buffer[] | null = stream.start();
  for await (const rows of pages) {
    if (head) yield* head;
    head = null;
    for (const row of rows) {
      for (const [index, column] of stream.columns.entries()) {
        const named = columns[index];
        if (named) appendValue(column, named.type, row[named.as]);
      }
      if (stream.isFull) yield* stream.take();
    }
    onRows?.(stream.rows);
  }
  if (head) yield* head;
  yield* stream.take();
  onRows?.(stream.rows);
  yield* stream.end();
}

/** Writes a Parquet file, and sends it once it is complete. */
export async function* writeParquet(
  pages: AsyncIterable<Row[]>,
  columns: readonly NamedType[],
  { temporaryFolder, onRows }: { temporaryFolder: string; onRows: Told },
): AsyncGenerator<Buffer> {
  const file = await ParquetFile.open(temporaryFolder, columns);
  let count = 0;
  try {
    for await (const rows of pages) {
      await file.add(rows.map((row) => columns.map(({ as }) => row[as])));
      onRows?.((count += rows.length));
    }
    for await (const chunk of createReadStream(await file.finish())) yield chunk as Buffer;
  } finally {
    await file.close();
  }
}
