/** Times as devices write them: ISO 8601 with an offset, kept to the microsecond. */
const shape = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)$/;

/** In UTC, on a day that every month has: nothing to reckon. */
const plain = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;

/** `2026-05-01T12:00:00.5+02:00` → `2026-05-01T10:00:00.500000Z`; null for anything that is not an existing instant with an offset, from year 1 to 9999. */
export function instantOf(value: unknown): string | null {
  if (typeof value === 'string' && value.length < 28 && plain.test(value))
    return `${value.slice(0, 19)}.${value.slice(20, -1).padEnd(6, '0')}Z`;
  const parts = typeof value === 'string' && value.length <= 64 ? shape.exec(value.trim()) : null;
  if (!parts) return null;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((part) => Number(parts[part] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
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
