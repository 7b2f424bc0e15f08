/** One table in both engines: DuckDB's Parquet files, and the same files as Delta tables that Spark opens. */
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
  listFixedColumns,
} from '../../../src/lakehouse/terms/catalog.ts';
import type { TableSource } from '../../../src/lakehouse/terms/source.ts';
import { readRequest } from '../../../src/lakehouse/ask/request.ts';
import type { ReadRequest } from '../../../src/lakehouse/ask/request.ts';
import { PEOPLE } from '../../lakehouse/oracle/data.ts';
import type { Asked } from '../../lakehouse/oracle/evaluate.ts';
import { EXPERIMENT, OTHER_EXPERIMENT, source, uploaded } from '../../lakehouse/support.ts';
import type { Lake } from '../../lakehouse/support.ts';
import { makeHarshRows, selectHarshRows } from './harsh.ts';
import type { HarshRow } from './harsh.ts';
import { layLive } from './lake.ts';

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
  uploaded('wide', makeDecimal(38, 0)),
  uploaded('fine', makeDecimal(38, 10)),
  uploaded('json', VARIANT),
  uploaded('note', STRING),
];

export interface Bench {
  rows: readonly HarshRow[];
  sources: { named: TableSource; anonymised: TableSource; older: TableSource };
}

/** The rows, beside another experiment's in a file of both; `older` is the version before the last file came. */
export const layBench = async (lake: Lake, seed: number, count: number): Promise<Bench> => {
  const rows = makeHarshRows(seed, count);
  const half = Math.ceil(rows.length / 2);
  const foreign = selectHarshRows(makeHarshRows(seed + 1, 30), OTHER_EXPERIMENT);
  const files = [
    await lake.write(selectHarshRows(rows.slice(0, half), EXPERIMENT)),
    await lake.write(`${selectHarshRows(rows.slice(half), EXPERIMENT)} union all ${foreign}`),
  ];
  const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
  const people = PEOPLE.map(
    ({ id, name, avatar, pseudonym }) =>
      `select '${EXPERIMENT}' as experiment_id, '${id}' as user_id, ${text(name)}::varchar as name, ${text(avatar)}::varchar as avatar, '${pseudonym}' as pseudonym`,
  );
  const known = await lake.write(
    `${people.join(' union all ')} union all select '${OTHER_EXPERIMENT}', 'u3', 'Eve', null, 'Contributor-3'`,
  );
  const identity = layLive(lake.folder, { folder: 'people', kind: 'identity', files: [known], columns: listFixedColumns('identity') })();
  const at = layLive(lake.folder, { folder: 'rows', kind: 'upload', files, columns: [...listFixedColumns('upload'), ...COLUMNS] });
  const made = (anonymised: boolean, version?: number) => {
    const rows = at(version);
    return source(rows.files, { expanded: COLUMNS, identity, anonymised, ...rows });
  };
  return { rows, sources: { named: made(false), anonymised: made(true), older: made(false, 1) } };
};

/** The request as a client sends it. Throws the 400s of a request that no engine is asked. */
export const sent = ({ columns, filters, aggregation, ...rest }: Asked): ReadRequest =>
  readRequest({
    ...rest,
    columns: columns && JSON.stringify(columns),
    filters: JSON.stringify(filters),
    aggregation: aggregation && JSON.stringify(aggregation),
  });
