const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 20 });
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const distances = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export const countText = (count: number): string => numbers.format(count);
export const dayText = (at: string | Date): string => days.format(new Date(at));
export const momentText = (at: string | Date): string => moments.format(new Date(at));

/** A number of rows in words, as part of a sentence. */
export const rowsText = (count: string): string => (count === '1' ? '1 row' : `${count} rows`);

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago, in the largest unit that fits: `3 days ago`. */
export function agoText(at: string | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1_000;
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return distances.format(Math.round(seconds / length), unit);
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** A number of bytes in the largest unit that fits: `3.4 MB`. */
export function bytesText(bytes: number): string {
  const step = Math.min(BYTE_UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unit = BYTE_UNITS[step] ?? 'byte';
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: step === 0 ? 'long' : 'short', maximumFractionDigits: 1 });
  return format.format(bytes / 1_000 ** step);
}
