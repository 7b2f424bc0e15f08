const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID with hyphens, in small or capital letters. Postgres takes other forms too, and fails at anything else. */
export const isUuid = (text: string): boolean => FORM.test(text);
