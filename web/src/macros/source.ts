/** Control characters other than tab, line feed, form feed and carriage return. */

const UNPRINTABLE = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** The text of a macro, whose code may be stored as base64. */
export function readSource(code: string): string {
  try {
    const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return code === '' || btoa(atob(code)) !== code || UNPRINTABLE.test(text) ? code : text;
  } catch {
    return code;
  }
}
