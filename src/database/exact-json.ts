/** Parts of JSON texts, whose numbers keep their digits: 1.0 stays 1.0, 12345678901234567890 stays itself. */
import { readExactJson } from '../json.ts';

/** Nesting that is accepted: what prints it afterwards is recursive. */
export const DEEPEST_JSON = 200;

/** A member of a JSON object's text, as JSON text of its own; undefined when it is not there. The text nests no deeper than `DEEPEST_JSON`. */
export function readExactMember(text: string, name: string): string | undefined {
  const parsed = readExactJson(text);
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, name)) return undefined;
  return JSON.stringify((parsed as Record<string, unknown>)[name]);
}
