// Names and order of the document: what a reader and a generator of clients meet first.

interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, { tags?: string[] }>>;
  components: { schemas: Record<string, unknown> };
}

/** Names that a person would give; a rule of a text is said where it holds. */
const PLAIN = /^(?!(Name|SpacedName|LongText|Prose)$)[A-Z][A-Za-z0-9]*$/;
const PLACE = '#/components/schemas/';

/** Puts schemas in the place of references to them where their name is not plain: tsoa names `Record<string, unknown>` itself. */
export function inlineUnnamed({ paths, components }: Document): void {
  const { schemas } = components;
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: string };
    const name = $ref?.startsWith(PLACE) === true ? $ref.slice(PLACE.length) : undefined;
    if (name !== undefined && !PLAIN.test(name)) {
      // what the type is made of says less than what stands beside the reference
      const { description: _made, ...schema } = put(schemas[name]) as { description?: string };
      return { ...schema, ...rest };
    }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, put(member)]));
  };
  Object.assign(paths, put(paths));
  Object.assign(schemas, put(schemas));
  for (const name of Object.keys(schemas)) if (!PLAIN.test(name)) Reflect.deleteProperty(schemas, name);
}

/** Sorts paths by the order of their tags, then as they are read. */
export function sortPaths(document: Document): void {
  const order = document.tags.map(({ name }) => name);
  const placeOf = ([, item]: [string, Document['paths'][string]]) => order.indexOf(Object.values(item)[0]?.tags?.[0] ?? '');
  document.paths = Object.fromEntries(Object.entries(document.paths).sort((a, b) => placeOf(a) - placeOf(b) || (a[0] < b[0] ? -1 : 1)));
}
