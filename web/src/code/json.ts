import { parser } from '@lezer/json';
import type { CodeProblem } from './language.ts';

/** Where a text stops being JSON; the end of the text when only more of it is missing. */
function findEnd(text: string): number {
  const cursor = parser.parse(text).cursor();
  do if (cursor.type.isError) return cursor.from;
  while (cursor.next());
  return text.length;
}

/** What is wrong with a text that should be JSON, and where; null when nothing is. */
export function findJsonProblem(text: string): CodeProblem | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const before = text.slice(0, findEnd(text)).split('\n');
    const message = error instanceof Error ? error.message : String(error);
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
  }
}

/** A number that is printed as it was written. */
const asWritten = (source: string): unknown =>
  'rawJSON' in JSON ? (JSON as { rawJSON: (text: string) => unknown }).rawJSON(source) : Number(source);

/** JSON whose numbers print with the digits that they were written with. Errors: SyntaxError. */
export const readExactly = (text: string): unknown =>
  // the type of the third parameter is newer than the compiler's library
  (JSON.parse as (text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown) => unknown)(
    text,
    (_key, value, { source }) => (typeof value === 'number' ? asWritten(source) : value),
  );

/** A value as indented JSON; a text that is JSON is shown as what it holds. */
export function printJson(value: unknown): string {
  if (typeof value === 'string' && findJsonProblem(value) === null) return JSON.stringify(readExactly(value), null, 2);
  return JSON.stringify(value, null, 2) ?? '';
}
