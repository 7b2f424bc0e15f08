/** The lake that requests run on, and one question put to both sides. */
import { readRequest } from '../../../src/lakehouse/ask/request.ts';
import type { TableRows } from '../../../src/lakehouse/terms/plan.ts';
import type { TableSource } from '../../../src/lakehouse/terms/source.ts';
import type { Warehouse } from '../../../src/lakehouse/terms/warehouse.ts';
import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  INT,
  STRING,
  TIMESTAMP,
  TIMESTAMP_NTZ,
  VARIANT,
  makeDecimal,
} from '../../../src/lakehouse/terms/catalog.ts';
import type { Column, TableKind } from '../../../src/lakehouse/terms/catalog.ts';
import { EXPERIMENT, OTHER_EXPERIMENT, page, source, uploaded } from '../support.ts';
import { difference } from './compare.ts';
import { PEOPLE, makeRows, selectRows } from './data.ts';
import type { Row } from './data.ts';
import { evaluate } from './evaluate.ts';
import type { Asked } from './evaluate.ts';

const COLUMNS = [
  uploaded('bool', BOOLEAN),
  uploaded('int', INT),
  uploaded('big', BIGINT),
  uploaded('dec', makeDecimal(12, 3)),
  uploaded('dbl', DOUBLE),
  uploaded('txt', STRING),
  uploaded('day', DATE),
  uploaded('at', TIMESTAMP),
  uploaded('clock', TIMESTAMP_NTZ),
  uploaded('json', VARIANT),
];

export interface Bench {
  rows: readonly Row[];
  sources: { named: TableSource; anonymised: TableSource };
}

/** Somewhere to write files, and to make tables of them. */
export interface LayingLake {
  write(select: string): Promise<string>;
  rows(files: readonly string[], kind: TableKind, expanded?: readonly Column[]): TableRows | Promise<TableRows>;
}

/** Three files that do not all have every column, one of them with another experiment's rows inside. */
export const layBench = async (lake: LayingLake, seed: number, count: number): Promise<Bench> => {
  const rows = makeRows(seed, count);
  const third = Math.ceil(rows.length / 3);
  const parts = [rows.slice(0, third), rows.slice(third, 2 * third), rows.slice(2 * third)];
  for (const row of parts[1] ?? []) row.cells.dec = null;
  const foreign = selectRows(makeRows(seed + 1, 40), OTHER_EXPERIMENT);
  const files = [
    await lake.write(selectRows(parts[0] ?? [], EXPERIMENT)),
    await lake.write(selectRows(parts[1] ?? [], EXPERIMENT, ['dec'])),
    await lake.write(`${selectRows(parts[2] ?? [], EXPERIMENT)} union all ${foreign}`),
  ];
  const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
  const people = PEOPLE.map(
    ({ id, name, avatar, pseudonym }) =>
      `select '${EXPERIMENT}' as experiment_id, '${id}' as user_id, ${text(name)}::varchar as name, ${text(avatar)}::varchar as avatar, '${pseudonym}' as pseudonym`,
  );
  const known = await lake.write(
    `${people.join(' union all ')} union all select '${OTHER_EXPERIMENT}', 'u3', 'Eve', null, 'Contributor-3'`,
  );
  const identity = await lake.rows([known], 'identity');
  const own = await lake.rows(files, 'upload', COLUMNS);
  const made = (anonymised: boolean) => source(files, { expanded: COLUMNS, identity, anonymised, ...own });
  return { rows, sources: { named: made(false), anonymised: made(true) } };
};

/** Asks the engine and the oracle; the difference in words, or null. */
export const put = async (warehouse: Warehouse, { rows, sources }: Bench, asked: Asked, anonymised: boolean): Promise<string | null> => {
  const { columns, filters, aggregation, ...rest } = asked;
  const request = readRequest({
    ...rest,
    columns: columns && JSON.stringify(columns),
    filters: JSON.stringify(filters),
    aggregation: aggregation && JSON.stringify(aggregation),
  });
  const body = await page(warehouse, anonymised ? sources.anonymised : sources.named, request);
  return difference(evaluate(rows, asked, anonymised), { rows: body.data.rows, total: body.totalRows, truncated: body.data.truncated });
};
