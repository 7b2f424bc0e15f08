/** Whether an answer is the right one. Knows nothing of the code under test. */
import type { Answer, Value } from './evaluate.ts';

const EXACT_TO = 2n ** 53n;
const iso = (micros: bigint, suffix: string) => {
  const text = new Date(Number((micros - (micros % 1000n)) / 1000n)).toISOString().slice(0, 23);
  return `${text}${micros % 1000n === 0n ? '' : String(micros % 1000n).padStart(3, '0')}${suffix}`;
};

/** The JSON cell that a value must give; doubles are compared by `agrees`. */
export const printed = ({ kind, cell }: Value): unknown => {
  if (cell === null) return null;
  switch (kind) {
    case 'big':
    case 'whole': {
      const whole = BigInt(cell);
      return whole > EXACT_TO || whole < -EXACT_TO ? String(whole) : Number(whole);
    }
    case 'sum0':
      return String(cell);
    case 'dec':
    case 'sum3': {
      const [digits, sign] = [String(cell).replace('-', '').padStart(4, '0'), BigInt(cell) < 0n ? '-' : ''];
      return `${sign}${digits.slice(0, -3)}.${digits.slice(-3)}`;
    }
    case 'dbl':
    case 'real':
      return Number.isFinite(cell) ? Number(cell) + 0 : null;
    case 'day':
      return new Date(Number(cell) * 86_400_000).toISOString().slice(0, 10);
    case 'at':
      return iso(BigInt(cell), 'Z');
    case 'clock':
      return iso(BigInt(cell), '');
    case 'doc':
      return JSON.parse(String(cell));
    case 'bool':
    case 'id':
    case 'int':
    case 'txt':
      return cell;
  }
};

export const agrees = (value: Value, found: unknown): boolean => {
  const wanted = printed(value);
  if (value.slack === Infinity) return true;
  if (value.kind === 'doc') return JSON.stringify(wanted) === JSON.stringify(found);
  if (Object.is(found, -0)) return false;
  if (typeof wanted !== 'number' || typeof found !== 'number') return wanted === found;
  if (value.kind !== 'dbl' && value.kind !== 'real') return wanted === found;
  return wanted === found || Math.abs(wanted - found) <= (value.slack ?? 0) + 1e-9 * Math.abs(wanted);
};

/** Compares a value that is answered as text. */
export const agreesAsText = (value: Value, found: string): boolean => {
  const kind = typeof printed(value);
  if (kind === 'boolean') return agrees(value, found === 'true');
  return agrees(value, kind === 'number' ? Number(found) : found);
};

export interface Found {
  rows: readonly Record<string, unknown>[];
  total: number;
  truncated: boolean;
}

/** The first difference in words, or null. */
export const difference = (answer: Answer, found: Found): string | null => {
  if (found.rows.length !== answer.lines.length) return `${found.rows.length} rows, not ${answer.lines.length}`;
  if (found.total !== answer.total) return `total ${found.total}, not ${answer.total}`;
  if (found.truncated !== answer.truncated) return `truncated ${found.truncated}`;
  for (const [index, line] of answer.lines.entries()) {
    const row = found.rows[index] ?? {};
    if (Object.keys(row).join() !== Object.keys(line).join()) return `columns ${Object.keys(row).join()}, not ${Object.keys(line).join()}`;
    for (const [name, value] of Object.entries(line)) {
      if (!agrees(value, row[name])) return `row ${index}, ${name}: ${JSON.stringify(row[name])}, not ${JSON.stringify(printed(value))}`;
    }
  }
  return null;
};
