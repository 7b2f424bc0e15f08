/** The text of each named control of a form. */
export function fieldsOf(form: HTMLFormElement): Record<string, string | undefined> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value;
  return fields;
}
