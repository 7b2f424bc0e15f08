/**
 * Adds what people have said of plots, plants and devices. It comes in tables whose rows meet measurements by a key: the answer to a question, or a value from
 * the device. The dimension holds one row for each matched column and key, with a typed column for each name. A read joins it only for the names it uses.
 */
import { listFixedColumns, listPhysicalColumns, type Column } from '../terms/catalog.ts';
import type { Expr, Output, Plan, ScanColumn, TableRows } from '../terms/plan.ts';
import type { MetadataColumn, MetadataSource, TableSource } from '../terms/source.ts';
import { makeColumn, makeEqual, makeOutput, makeValue } from './make.ts';
import { makeNamer, scanColumns } from './scan-columns.ts';
import type { ExperimentScope } from '../terms/scope.ts';

const RAW_ID = 'raw_id';

const rowsOf = ({ files, live }: TableRows): TableRows => ({ files, live });

/**
 * Names the columns of a table whose values rows of metadata can meet. What a macro made is not what somebody answered, even under the name of the question:
 * the answer is then found by the measurement.
 */
const listMatchable = (table: readonly Column[]): ReadonlySet<string> =>
  new Set(listPhysicalColumns(table).flatMap(({ name, origin }) => (origin === 'output' ? [] : name)));

/** Lists the columns that the dimension adds to a table. A name that the table has already gets `metadata_` before it. */
export function listMetadataColumns(
  { columns: described, answers }: MetadataSource,
  table: readonly Column[],
): { columns: Column[]; described: MetadataColumn[] } {
  const taken = new Set(table.map(({ name }) => name.toLowerCase()));
  const has = listMatchable(table);
  const free = (name: string): string => (taken.has(name.toLowerCase()) ? free(`metadata_${name}`) : name);
  const renamed = described.map((column) => {
    const name = free(column.name);
    taken.add(name.toLowerCase());
    return { ...column, name };
  });
  const columns = renamed.map(({ name, type, matchedBy }): Column => {
    const own = matchedBy.filter((matched) => has.has(matched));
    const madeFrom = answers && own.length < matchedBy.length ? [...own, RAW_ID] : own;
    return { name, type, nullable: true, origin: 'metadata', derived: 'metadata', madeFrom };
  });
  return { columns, described: renamed };
}

/** Plans the dimension's rows for one matched column, each key once. */
function entries(scope: ExperimentScope, source: MetadataSource, matched: string, wanted: readonly MetadataColumn[]): Plan {
  const scan: Plan = {
    kind: 'scan',
    scope,
    table: { kind: 'metadata_record', identifier: 'metadata_record' },
    columns: [
      ...scanColumns(listFixedColumns('metadata_record')),
      ...wanted.map(({ stored, type }): ScanColumn => ({ kind: 'column', name: stored, type })),
    ],
    needed: ['matched_column', 'key', ...wanted.map(({ stored }) => stored)],
    rows: rowsOf(source),
  };
  const where = makeEqual(makeColumn('matched_column'), makeValue(matched));
  const measures = wanted.map(({ stored, type }): Output =>
    makeOutput(stored, { kind: 'aggregate', how: 'max', of: makeColumn(stored, type), type }),
  );
  return { kind: 'group', from: { kind: 'filter', from: scan, where }, keys: [makeOutput('key', makeColumn('key'))], measures };
}

/** Joins the answers to a question to rows that were made from measurements. The answers get a name that no column has. */
function withAnswer(
  left: Plan,
  { scope }: TableSource,
  answers: NonNullable<MetadataSource['answers']>,
  matched: string,
  name: string,
): Plan {
  const columns = scanColumns(answers.columns);
  const table = { kind: 'raw_data', identifier: 'raw_data' } as const;
  const right: Plan = { kind: 'scan', scope, table, columns, needed: ['id', matched], rows: rowsOf(answers) };
  return { kind: 'join', left, right, leftKey: RAW_ID, rightKey: 'id', adds: [makeOutput(name, makeColumn(matched))] };
}

/** Adds those of the named columns that come from metadata. Answers `from` unchanged when there are none. */
export function joinMetadata(from: Plan, source: TableSource, names: ReadonlySet<string>): Plan {
  const { metadata, scope } = source;
  const wanted = metadata?.columns.filter(({ name }) => names.has(name)) ?? [];
  if (!metadata || wanted.length === 0) return from;
  const unused = makeNamer(source.columns);
  // a read may add some columns before its cut and others after it; each time they get names of their own
  const turn = metadata.columns.findIndex(({ name }) => names.has(name));
  const own = listMatchable(source.columns);
  const asked = new Set(metadata.answers && listPhysicalColumns(metadata.answers.columns).map(({ name }) => name));
  const found = new Map<string, Expr[]>();
  let plan = from;
  [...new Set(wanted.flatMap(({ matchedBy }) => matchedBy))].forEach((matched, place) => {
    const matching = wanted.filter(({ matchedBy }) => matchedBy.includes(matched));
    const key = own.has(matched) ? matched : unused(`answer${turn}_${place}`);
    if (!own.has(matched)) {
      // nobody has answered this question yet
      if (!metadata.answers || !asked.has(matched)) return;
      plan = withAnswer(plan, source, metadata.answers, matched, key);
    }
    const adds = matching.map(({ stored, type }, index) =>
      makeOutput(unused(`described${turn}_${place}_${index}`), makeColumn(stored, type)),
    );
    plan = { kind: 'join', left: plan, right: entries(scope, metadata, matched, matching), leftKey: key, rightKey: 'key', adds };
    matching.forEach(({ name, type }, index) => {
      found.set(`${name}\0${matched}`, [makeColumn(adds[index]?.as ?? '', type)]);
    });
  });
  const outputs = wanted.map(({ name, type, matchedBy }): Output => {
    const given = matchedBy.flatMap((matched) => found.get(`${name}\0${matched}`) ?? []);
    const [first, ...others] = given;
    if (!first) return makeOutput(name, makeValue(null, type));
    return makeOutput(name, others.length === 0 ? first : { kind: 'coalesce', of: given, type });
  });
  return { kind: 'project', from: plan, outputs, keep: true };
}
