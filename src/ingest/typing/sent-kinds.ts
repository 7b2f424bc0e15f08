/** Counts in which ways the values of a delimited file's columns are written. */
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import { SENT_CLASSES, TEXT_CLASSES } from '../value-classes.ts';

/** How many values of a column are of each kind. */
export type Kinds = ReadonlyMap<number, number>;

const DAY_LIKE = [SENT_CLASSES.dayLike, SENT_CLASSES.dayLike | SENT_CLASSES.untidy];
/** Columns of one statement: what the engine does before it looks at a value takes longer than a short file's values. */
const BATCH = 500;
/** How many values are the first ones. */
export const FIRST = 2_000;

/** What is made of each value `b`, once for all that is asked of it, and the kind that follows. */
interface Steps {
  parts: string;
  kind: string;
}

const OF_TEXT: Steps = { parts: 'text_class(b) as t', kind: 'sent_kind(sent, b, t)' };
const OF_DAYS: Steps = {
  // days and times of the plain form have been counted already
  parts: `ymd_moment(b) as y, dmy_moment(b) as d, mdy_moment(b) as m, named_moment(b) as n, text_class(b) = ${TEXT_CLASSES.text} and is_day_like(b) as l`,
  kind: 'case when l then day_kind(y, d, m, n, b) end',
};

/** Counts the kinds of the values of these columns of `bronze_sent`: of all values, or of the first ones. */
export async function countKinds(
  session: StagingSession,
  pipelines: Pipelines,
  columns: readonly string[],
  { first }: { first: boolean },
): Promise<Map<string, Map<number, number>>> {
  const all = new Map(columns.map((column) => [column, new Map<number, number>()]));
  const limit = first ? `limit ${FIRST}` : '';
  const look = async (asked: readonly string[], steps: Steps) => {
    for (let at = 0; at < asked.length; at += BATCH) {
      const batch = asked.slice(at, at + BATCH).join(', ');
      for (const { name, kind, many } of await session.rows(fill(pipelines.sentKinds, { ...steps, columns: batch, limit }))) {
        const kinds = all.get(String(name));
        if (kind !== null) kinds?.set(Number(kind), (kinds.get(Number(kind)) ?? 0) + Number(many));
      }
    }
  };
  await look(columns, OF_TEXT);
  // each is taken out of the count, and counted again as what it is
  const dayLike = columns.filter((column) => DAY_LIKE.filter((kind) => all.get(column)?.delete(kind)).length > 0);
  await look(dayLike, OF_DAYS);
  return all;
}
