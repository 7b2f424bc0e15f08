import { open } from 'node:fs/promises';
import type { ColumnType } from '../lakehouse/catalog.ts';
import type { StagingSession } from '../lakehouse/staging.ts';
import { MAX_COLUMNS, MAX_ROWS, MAX_UNPACKED_BYTES } from './limits.ts';
import { fill, variable, type Pipelines } from './pipeline.ts';
import { quote } from '../lakehouse/staging.ts';
import { FileRefused } from './record-writer.ts';
import type { BronzeField } from './typing.ts';

const MAGIC = 'PAR1';

async function requireParquet(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const ends = Buffer.alloc(8);
    await handle.read(ends, 0, 4, 0);
    if (size >= 12) await handle.read(ends, 4, 4, size - 4);
    if (ends.toString('latin1', 0, 4) !== MAGIC) throw new FileRefused('wrong_type', 'This is not a Parquet file.');
    if (ends.toString('latin1', 4, 8) !== MAGIC) throw new FileRefused('cut_off', 'The Parquet file has no footer: it was cut off.');
  } finally {
    await handle.close();
  }
}

/** How a type of the engine becomes one of ours: the expression over the file's column, and the type it then has. */
function read(column: string, type: string): { expression: string; form: ColumnType } {
  const as = (form: ColumnType, expression = column) => ({ expression, form });
  const cast = (form: ColumnType, target: string) => as(form, `cast(${column} as ${target})`);
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (decimal) return as({ kind: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]) });
  switch (type) {
    case 'BOOLEAN':
      return as({ kind: 'boolean' });
    case 'TINYINT':
    case 'SMALLINT':
    case 'UTINYINT':
    case 'USMALLINT':
      return cast({ kind: 'int' }, 'INTEGER');
    case 'INTEGER':
      return as({ kind: 'int' });
    case 'UINTEGER':
      return cast({ kind: 'bigint' }, 'BIGINT');
    case 'BIGINT':
      return as({ kind: 'bigint' });
    case 'UBIGINT':
      return cast({ kind: 'decimal', precision: 38, scale: 0 }, 'DECIMAL(38,0)');
    case 'FLOAT':
      return cast({ kind: 'double' }, 'DOUBLE');
    case 'DOUBLE':
      return as({ kind: 'double' });
    case 'VARCHAR':
      return as({ kind: 'string' });
    case 'DATE':
      return as({ kind: 'date' });
    case 'TIMESTAMP WITH TIME ZONE':
      return as({ kind: 'timestamp' });
    case 'TIMESTAMP':
      return as({ kind: 'timestamp_ntz' });
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP_NS':
      // whole microseconds only; finer times are kept as text, where nothing is lost
      return type === 'TIMESTAMP_NS' ? cast({ kind: 'string' }, 'VARCHAR') : cast({ kind: 'timestamp_ntz' }, 'TIMESTAMP');
    case 'BLOB':
      return as({ kind: 'string' }, `to_base64(${column})`);
    default:
      return /\[\]$|\[\d+\]$|^STRUCT|^MAP|^UNION|^JSON$|^VARIANT$/.test(type)
        ? as({ kind: 'variant' }, `to_json(${column})`)
        : cast({ kind: 'string' }, 'VARCHAR');
  }
}

/** The refusal of a Parquet file that the engine could not read. */
export function unreadable(cause: unknown): never {
  if (cause instanceof FileRefused || (cause as Error).name === 'AbortError') throw cause;
  throw new FileRefused(
    'unreadable',
    'The Parquet file cannot be read: its footer or its pages are damaged, or it uses a feature that is not supported.',
    { cause },
  );
}

/** Checks a Parquet file by its footer before any page is unpacked, and names it as `bronze_records`. */
export async function openParquet(
  session: StagingSession,
  pipelines: Pipelines,
  path: string,
): Promise<{ fields: BronzeField[]; rows: number }> {
  await requireParquet(path);
  const ask = (sql: string) => session.rows({ sql, values: [] }).catch(unreadable);
  await session.prepare([variable('records', path)]);
  const [facts = {}] = await ask("select num_rows as rows from parquet_file_metadata(getvariable('records'))");
  const [size = {}] = await ask(
    `select coalesce(sum(total_uncompressed_size), 0)::varchar as bytes from parquet_metadata(getvariable('records'))`,
  );
  const rows = Number(facts.rows ?? 0);
  if (Number(size.bytes) > MAX_UNPACKED_BYTES || rows > MAX_ROWS)
    throw new FileRefused('unpacks_too_large', 'The Parquet file unpacks to more than 16 GiB or a thousand million rows.');
  const described = await ask(`describe select * from read_parquet(getvariable('records'), hive_partitioning = false)`);
  if (described.length > MAX_COLUMNS)
    throw new FileRefused('too_many_columns', `The file has ${described.length} columns; a table holds at most ${MAX_COLUMNS}.`);
  const fields: BronzeField[] = [];
  const columns = described.map(({ column_name: name, column_type: type }, index) => {
    const { expression, form } = read(quote(String(name)), String(type));
    fields.push({ key: String(name), column: `c${index + 1}`, form });
    return `${expression} as c${index + 1}`;
  });
  await session.prepare([fill(pipelines.uploadedParquet, { columns: columns.length === 0 ? 'null as c0' : columns.join(', ') })]);
  return { fields, rows };
}
