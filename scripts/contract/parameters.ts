/** A parameter as the document has it. */
export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: { type?: unknown; $ref?: string };
}

/** The value that the text of a parameter stands for. */
export function valueOf(
  { schema }: Pick<Parameter, 'schema'>,
  schemas: Readonly<Record<string, { type?: unknown }>>,
  text: string,
): unknown {
  const { type } = schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1)!] ?? {});
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}
