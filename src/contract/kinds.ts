interface Union {
  oneOf?: { $ref?: string }[];
  discriminator?: { propertyName: string; mapping?: object };
}

/**
 * Replaces the references in each union with a discriminator by the schemas that they name: the checker of values takes no mapping of kinds to names. Returns
 * the new part of the document.
 */
export function placeKinds<Value>(part: Value, schemas: Readonly<Record<string, unknown>>): Value {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((each: unknown) => placeKinds(each, schemas)) as Value;
  const { oneOf = [], discriminator } = part as Union;
  const isNamed = discriminator?.mapping !== undefined;
  const kinds = isNamed
    ? {
        discriminator: { propertyName: discriminator.propertyName },
        oneOf: oneOf.map(({ $ref = '' }) => schemas[$ref.split('/').at(-1) ?? '']),
      }
    : {};
  return Object.fromEntries(Object.entries({ ...part, ...kinds }).map(([name, member]) => [name, placeKinds(member, schemas)])) as Value;
}
