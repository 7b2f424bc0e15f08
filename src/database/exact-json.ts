/** Parts of JSON texts, whose numbers keep their digits: 1.0 stays 1.0, 12345678901234567890 stays itself. */
import { exactJson } from '../json.ts';

/** Nesting that is accepted: what prints it afterwards is recursive. */
export const DEEPEST_JSON = 200;

/** How deep the brackets of a JSON text nest. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, (depth += 1));
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/** A member of a JSON object's text, as JSON text of its own; undefined when it is not there. The text nests no deeper than `DEEPEST_JSON`. */
export function exactMember(text: string, name: string): string | undefined {
  const parsed = exactJson(text);
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, name)) return undefined;
  return JSON.stringify((parsed as Record<string, unknown>)[name]);
}
