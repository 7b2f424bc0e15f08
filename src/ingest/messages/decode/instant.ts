/** Times as devices write them: ISO 8601 with an offset, kept to the microsecond. */
const shape = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)$/;

/** A time in UTC on a day that every month has, which needs no reckoning. */
const plain = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;

const [DASH, DOT, ZERO, COLON, LETTER_T, LETTER_Z] = [0x2d, 0x2e, 0x30, 0x3a, 0x54, 0x5a];
const digit = (bytes: Buffer, at: number): number => {
  const value = (bytes[at] ?? 0) - ZERO;
  return value >= 0 && value <= 9 ? value : 100;
};
const two = (bytes: Buffer, at: number): number => digit(bytes, at) * 10 + digit(bytes, at + 1);

/** The number of days that each month has in every year. */
const DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether bytes are an instant in UTC as `readInstant` answers it, though zeros at the end of its second may be missing. Some such instants are not recognised.
 */
export function isPlainInstant(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length < 20 || length === 21 || length > 27 || bytes[end - 1] !== LETTER_Z) return false;
  if (bytes[start + 4] !== DASH || bytes[start + 7] !== DASH || bytes[start + 10] !== LETTER_T) return false;
  if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return false;
  const [century, year, month, day] = [two(bytes, start), two(bytes, start + 2), two(bytes, start + 5), two(bytes, start + 8)];
  if (century > 99 || year > 99 || century + year === 0 || day < 1 || day > (DAYS[month] ?? 0)) return false;
  if (two(bytes, start + 11) > 23 || two(bytes, start + 14) > 59 || two(bytes, start + 17) > 59) return false;
  if (length > 20 && bytes[start + 19] !== DOT) return false;
  for (let at = start + 20; at < end - 1; at += 1) if (digit(bytes, at) > 9) return false;
  return true;
}

/** `2026-05-01T12:00:00.5+02:00` → `2026-05-01T10:00:00.500000Z`; null for anything that is not an existing instant with an offset, from year 1 to 9999. */
export function readInstant(value: unknown): string | null {
  if (typeof value === 'string' && value.length < 28 && plain.test(value))
    return `${value.slice(0, 19)}.${value.slice(20, -1).padEnd(6, '0')}Z`;
  const parts = typeof value === 'string' && value.length <= 64 ? shape.exec(value.trim()) : null;
  if (!parts) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = [1, 2, 3, 4, 5, 6].map((part) => Number(parts[part] ?? 0));
  if (year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second, 0);
  if (at.getUTCDate() !== day || at.getUTCMonth() !== month - 1) return null;
  const zone = (parts[8] ?? 'Z').toUpperCase();
  if (zone !== 'Z') {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
    if (hours > 18 || minutes > 59) return null;
    at.setTime(at.getTime() - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000);
  }
  if (at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9999) return null;
  return `${at.toISOString().slice(0, 19)}.${(parts[7] ?? '').slice(0, 6).padEnd(6, '0')}Z`;
}
