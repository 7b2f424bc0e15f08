/** Says of a text column most of whose values are numbers, days or times which of them are not, and what to do. */
import { readJson } from '../../json.ts';
import type { StagingSession } from '../../lakehouse/tables/staging.ts';
import { fill, type Pipelines } from '../pipeline.ts';
import { DAY_CLASSES } from '../value-classes.ts';

/** What most values of a text column are, though too few of them for a type. */
export interface Majority {
  what: 'numbers' | 'days' | 'times';
  /** Bits of `TEXT_CLASSES`, `SENT_CLASSES` and `DAY_CLASSES` that these values have. */
  bits: number;
  many: number;
  /** All values of the column that are not missing. */
  values: number;
}

const BATCH = 50;
const SHOWN = 3;
const LETTERS = 40;
const OF_DAYS = Object.values(DAY_CLASSES).reduce((union, bit) => union | bit, 0);

function printFits(bits: number): string {
  const fits = `(sent_kind(sent, b, t) & ${bits}) <> 0`;
  return (bits & OF_DAYS) === 0
    ? fits
    : `(${fits} or (is_day_like(b) and (day_kind(ymd_moment(b), dmy_moment(b), mdy_moment(b), named_moment(b), b) & ${bits}) <> 0))`;
}

function printNote({ what, many, values }: Majority, commonest: readonly string[], different: number): string {
  const more = different - commonest.length;
  const named = commonest.map((value) => `'${value}'`).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const [are, they, marks] =
    different === 1 ? ['is', 'it stands for a missing value', 'it'] : ['are', 'they stand for missing values', 'them'];
  return `${many} of ${values} values are ${what}; ${named} ${are} not. If ${they}, name ${marks} among the marks in missing. Sent with types, the column holds ${what} and keeps the others as text beside them.`;
}

/** Writes the notes of these columns of `bronze_sent`, by their names there. */
export async function noteOthers(
  session: StagingSession,
  pipelines: Pipelines,
  columns: ReadonlyMap<string, Majority>,
): Promise<Map<string, string>> {
  const notes = new Map<string, string>();
  for (const [bits, alike] of Map.groupBy(columns, ([, majority]) => majority.bits)) {
    for (let at = 0; at < alike.length; at += BATCH) {
      const batch = alike.slice(at, at + BATCH).map(([column]) => column);
      const slots = { columns: batch.join(', '), fits: printFits(bits), shown: String(SHOWN), letters: String(LETTERS) };
      for (const { name, different, commonest } of await session.rows(fill(pipelines.sentOthers, slots))) {
        const majority = columns.get(String(name));
        if (majority) notes.set(String(name), printNote(majority, readJson(String(commonest)) as string[], Number(different)));
      }
    }
  }
  return notes;
}
