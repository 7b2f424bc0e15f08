/** An independent reader of strict CSV: whole text in, records out; an unquoted empty field is null. */
export function parseStrict(text: string, delimiter = ','): (string | null)[][] {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  const records: (string | null)[][] = [];
  let record: (string | null)[] = [];
  const pattern = new RegExp(
    `("(?:[^"]|"")*"|[^${delimiter === '\t' ? '\\t' : delimiter}\\r\\n]*)(${delimiter === '\t' ? '\\t' : delimiter}|\\r\\n|\\n|\\r|$)`,
    'gy',
  );
  while (pattern.lastIndex < source.length) {
    const match = pattern.exec(source);
    if (!match) throw new Error(`not strict CSV at ${pattern.lastIndex}`);
    const [, field = '', end = ''] = match;
    record.push(field === '' ? null : field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === delimiter) {
      if (pattern.lastIndex === source.length) record.push(null);
      else continue;
    }
    records.push(record);
    record = [];
  }
  return records;
}

/** A field as a strict writer puts it. */
export const writeField = (value: string | null, delimiter = ','): string =>
  value === null ? '' : value === '' || /["\r\n]/.test(value) || value.includes(delimiter) ? `"${value.replaceAll('"', '""')}"` : value;
