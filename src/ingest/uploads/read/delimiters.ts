const QUOTE = 0x22;
export const COMMA = 0x2c;
const SEMICOLON = 0x3b;
export const TAB = 0x09;
const PIPE = 0x7c;

/** Counts a byte outside quoted fields, for choosing the delimiter. */
function outsideQuotes(header: Buffer, wanted: number): number {
  let inside = false;
  let count = 0;
  for (const byte of header) {
    if (byte === QUOTE) inside = !inside;
    else if (byte === wanted && !inside) count += 1;
  }
  return count;
}

/** Reads the delimiter from a line that only names it, such as `sep=;`, which spreadsheets write above the header. Undefined for any other line. */
export const readDelimiterLine = (line: Buffer): number | undefined => /^sep=([,;|\t])$/i.exec(line.toString('latin1'))?.[1]?.charCodeAt(0);

/** Chooses the delimiter of a file by its header. */
export function chooseDelimiter(kind: 'csv' | 'tsv', header: Buffer): number {
  if (kind === 'tsv') return TAB;
  if (outsideQuotes(header, COMMA) > 0) return COMMA;
  if (outsideQuotes(header, SEMICOLON) > 0) return SEMICOLON;
  if (outsideQuotes(header, TAB) > 0) return TAB;
  return outsideQuotes(header, PIPE) > 0 ? PIPE : COMMA;
}
