const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is an id as we write it, in either case: Postgres takes more forms than that, and fails at the rest. */
export const isUuid = (text: string): boolean => FORM.test(text);
