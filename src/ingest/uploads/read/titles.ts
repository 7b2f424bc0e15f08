import { FileRefused } from '../../record-writer.ts';

/** Refuses a file whose first line seems to be a title: it has one field that holds something, and the line after it has more. */
export function refuseTitle(header: readonly string[], headerLine: number, first: { line: number; fields: number; text: string }): void {
  const isAlone =
    header.length === 1 || (header.length > 2 && header[0]?.trim() !== '' && header.slice(1).every((name) => name.trim() === ''));
  if (!isAlone) return;
  const many = header.length === 1 ? first.fields : first.text.split(/[,;|\t]/).filter((field) => field.trim() !== '').length;
  if (many > 1)
    throw new FileRefused(
      'bad_header',
      `Line ${headerLine} has one field, and line ${first.line} has ${many}: the header seems to be in line ${first.line}. Remove what stands above it, and send the file anew.`,
    );
}
