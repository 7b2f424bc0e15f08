const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
export const COMMA = 0x2c;
const SEMICOLON = 0x3b;
export const TAB = 0x09;
const PIPE = 0x7c;
/** How many rows, the last ones, say how many fields a record has. */
const MOST_LAST = 10;

/** Reads the delimiter from a line that only names it, such as `sep=;`, which spreadsheets write above the header. Undefined for any other line. */
export const readDelimiterLine = (line: Buffer): number | undefined => /^sep=([,;|\t])$/i.exec(line.toString('latin1'))?.[1]?.charCodeAt(0);

/** Counts how many of a byte each line that is not empty has outside of quoted fields. */
function countInLines(text: Buffer, wanted: number): number[] {
  const counts: number[] = [];
  let isQuoted = false;
  let count = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const byte = at < text.length ? text[at] : LF;
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if ((byte === LF || byte === CR) && (!isQuoted || at === text.length)) {
      if (at > from) counts.push(count);
      count = 0;
      from = at + 1;
    } else if (byte === wanted && !isQuoted) count += 1;
  }
  return counts;
}

/** Finds the number that most of the last ones are. */
export function findUsual(numbers: readonly number[]): number | undefined {
  const last = numbers.slice(-MOST_LAST);
  return last.find((one) => 2 * last.filter((each) => each === one).length > last.length);
}

/** Counts the lines that have as many of a byte as most of the last ones. */
function countAlike(text: Buffer, delimiter: number): number {
  const counts = countInLines(text, delimiter);
  const usual = findUsual(counts);
  return usual ? counts.filter((count) => count === usual).length : 0;
}

/**
 * Chooses the delimiter of a file by its first lines: the one that as many as possible have equally often, or else that the first line has. Words and decimals
 * have commas, too.
 */
export function chooseDelimiter(kind: 'csv' | 'tsv', text: Buffer): number {
  if (kind === 'tsv') return TAB;
  const choices = [SEMICOLON, TAB, PIPE, COMMA].map((delimiter) => ({ delimiter, alike: countAlike(text, delimiter) }));
  const best = choices.reduce((one, other) => (other.alike > one.alike ? other : one));
  if (best.alike > 0) return best.delimiter;
  return [COMMA, SEMICOLON, TAB, PIPE].find((delimiter) => (countInLines(text, delimiter)[0] ?? 0) > 0) ?? COMMA;
}
