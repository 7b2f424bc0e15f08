const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Control characters other than tab, line feed, form feed and carriage return. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** The text that runs: canonical base64 of printable UTF-8 is decoded first, anything else is itself. */
export const decodeSource = (code: string): string => {
  if (code.length === 0 || !CANONICAL_BASE64.test(code)) return code;
  const bytes = Buffer.from(code, 'base64');
  if (bytes.toString('base64') !== code) return code;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return UNPRINTABLE.test(text) ? code : text;
  } catch {
    return code;
  }
};
