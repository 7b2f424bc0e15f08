/** The text of each named control of a form. */
export function fieldsOf(form: HTMLFormElement): Record<string, string | undefined> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value;
  return fields;
}

/** Remembers what a form holds. Answers a function to call once that is taken: it resets the form, unless somebody has written on meanwhile. */
export function resetOnceTaken(form: HTMLFormElement): () => void {
  const textOf = () => JSON.stringify(fieldsOf(form));
  const sent = textOf();
  return () => {
    if (textOf() === sent) form.reset();
  };
}
