/** Half-open ranges and the whole hours and days in them. Pure. */
import { errors } from '../../errors.ts';
import type { BucketsQuery, RangeQuery } from './monitoring.model.ts';

/** Half-open: `from` is in it, `to` is not. */
export type Range = RangeQuery;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LONGEST = 31 * DAY;
/** Most points of an answer. Each device has at most one point in each bucket. */
export const MOST_POINTS = 100_000;

/** Refuses a range that is empty, or longer than 31 days. Errors: rangeInvalid. */
export function readRange<R extends Range>(asked: R): R {
  const span = asked.to.getTime() - asked.from.getTime();
  if (span <= 0) throw errors.rangeInvalid('The range is empty: from must be before to.');
  if (span > LONGEST) throw errors.rangeInvalid('The range must be at most 31 days.');
  return asked;
}

const down = (at: Date, size: number) => new Date(Math.floor(at.getTime() / size) * size);
const up = (at: Date, size: number) => new Date(Math.ceil(at.getTime() / size) * size);

/** A range, and the hours that it touches (UTC, by their starts). */
export interface CutRange extends Range {
  /** The first hour that the range touches. */
  firstHour: Date;
  /** The hours that the range holds in part, at most two. */
  cutHours: Date[];
  /** The hours that the range holds whole; empty (`from` not before `to`) when there is none. */
  wholeHours: Range;
}

export function cutRange({ from, to }: Range): CutRange {
  const cut = [from, to].filter((at) => at.getTime() % HOUR !== 0).map((at) => down(at, HOUR).getTime());
  return {
    from,
    to,
    firstHour: down(from, HOUR),
    cutHours: [...new Set(cut)].map((at) => new Date(at)),
    wholeHours: { from: up(from, HOUR), to: down(to, HOUR) },
  };
}

/** A range as whole days, with what is to be added to the days and what is to be taken from them. At each end the shorter part is chosen. */
export interface Days {
  days: Range;
  plus: CutRange[];
  minus: CutRange[];
}

/** Splits a range by days; null for a range that touches fewer than two days. */
function splitDays({ from, to }: Range): Days | null {
  const first = down(from, DAY);
  const last = up(to, DAY);
  if (last.getTime() - first.getTime() < 2 * DAY) return null;
  const days = { from: first, to: last };
  const split: { plus: Range[]; minus: Range[] } = { plus: [], minus: [] };
  if (from.getTime() - first.getTime() <= DAY / 2) split.minus.push({ from: first, to: from });
  else {
    days.from = up(from, DAY);
    split.plus.push({ from, to: days.from });
  }
  if (last.getTime() - to.getTime() <= DAY / 2) split.minus.push({ from: to, to: last });
  else {
    days.to = down(to, DAY);
    split.plus.push({ from: days.to, to });
  }
  const isSome = (part: Range) => part.from < part.to;
  return { days, plus: split.plus.filter(isSome).map(cutRange), minus: split.minus.filter(isSome).map(cutRange) };
}

/**
 * A time that is printed thousands of times. Its text is made only once, because making it is nine tenths of the work of printing an answer of 62,000 points.
 */
class PrintedOften extends Date {
  #text: string | undefined;

  override toJSON(): string {
    return (this.#text ??= this.toISOString());
  }
}

/** A range with its buckets. `split` gives its days when it is counted by days. */
export interface BucketedRange extends CutRange, BucketsQuery {
  /** Milliseconds of one bucket. */
  size: number;
  /** Start of every bucket that the range touches. */
  starts: Date[];
  split: Days | null;
}

export function splitRange(range: BucketsQuery): BucketedRange {
  const { bucket } = range;
  const size = bucket === 'hour' ? HOUR : DAY;
  const starts: Date[] = [];
  for (let at = down(range.from, size).getTime(); at < range.to.getTime(); at += size) starts.push(new PrintedOften(at));
  return { ...cutRange(range), bucket, size, starts, split: bucket === 'hour' ? null : splitDays(range) };
}

/** Refuses a range that could give more than 100,000 points for so many series. Errors: rangeInvalid, naming a bucket or a range that fits. */
export function limitPoints({ from, to, bucket }: BucketsQuery, series: number): void {
  const per = (size: number) => ((up(to, size).getTime() - down(from, size).getTime()) / size) * series;
  if (per(bucket === 'hour' ? HOUR : DAY) <= MOST_POINTS) return;
  if (series > MOST_POINTS) throw errors.rangeInvalid(`You may read more than ${MOST_POINTS} devices; ask for a group of them.`);
  // a range that begins within a bucket touches one more
  const days = Math.max(1, Math.floor((MOST_POINTS / series - 1) / (bucket === 'hour' ? 24 : 1)));
  throw errors.rangeInvalid(
    bucket === 'hour' && per(DAY) <= MOST_POINTS
      ? `That could be more than ${MOST_POINTS} points for ${series} devices; ask for bucket=day, or at most ${days} days.`
      : `That could be more than ${MOST_POINTS} points for ${series} devices; ask for at most ${days} days.`,
  );
}
