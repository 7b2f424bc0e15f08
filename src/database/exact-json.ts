/** Reads parts of JSON texts and keeps the digits of numbers: 1.0 stays 1.0, 12345678901234567890 stays itself. */
import { readExactJson } from '../json.ts';

/** The deepest nesting that is accepted. It is limited because the value is printed by recursion afterwards. */
export const DEEPEST_JSON = 200;

/** Reads a member of a JSON object's text, as JSON text of its own; undefined when it is missing. The text must nest no deeper than `DEEPEST_JSON`. */
export function readExactMember(text: string, name: string): string | undefined {
  const parsed = readExactJson(text);
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, name)) return undefined;
  return JSON.stringify((parsed as Record<string, unknown>)[name]);
}
