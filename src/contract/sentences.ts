import type { ErrorObject } from 'ajv/dist/2020.js';
import { LONG_NUMBER } from '../json.ts';
import { NAME_RULE } from './names.ts';
import { suggestNames } from '../lakehouse/terms/near.ts';

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  int32: 'a whole number from -2147483648 to 2147483647',
  'date-time': 'a time with its offset, such as 2026-05-01T12:00:00Z',
  email: 'an email address',
  uri: 'an absolute URL',
  name: NAME_RULE,
};

/** What patterns of the document ask for that a person who sends something would not read. */
const PATTERNS: Readonly<Record<string, string>> = {
  '\\S': 'must not be blank',
  '^https?://[^\\x00-\\x20\\x7f/?#@]+([/?][^\\x00-\\x20\\x7f#]*)?$':
    'must be a URL such as https://example.org/fieldlake, without a user name, spaces and a #fragment',
};

const either = (names: readonly string[]) => [...new Set(names)].join(' or ');

const typesOf = ({ params }: ErrorObject): string[] => [(params as { type: string | string[] }).type].flat();

const count = (params: unknown) => (params as { limit: number }).limit;

const several = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const oneOf = (values: readonly unknown[]) => `must be one of ${values.map(String).join(', ')}`;

/** The kinds that a union with a discriminator knows. */
const tagsOf = ({ parentSchema, params }: ErrorObject): unknown[] =>
  (parentSchema?.['oneOf'] as { properties: Record<string, { const: unknown }> }[]).map(
    ({ properties }) => properties[(params as { tag: string }).tag]?.const,
  );

function unknownMember({ params, parentSchema }: ErrorObject): string {
  const name = (params as { additionalProperty: string }).additionalProperty;
  return `has no member '${name.slice(0, 64)}'.${suggestNames(name, Object.keys((parentSchema?.['properties'] as object | undefined) ?? {}))}`;
}

const formatted = (format: string) => `must be ${FORMATS[format] ?? `in the format ${format}`}`;

/** What each rule of a schema asks for, as the rest of a sentence that begins with the place. */
const SENTENCES: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: () => 'is required',
  type: (error) =>
    JSON.isRawJSON(error.data) && typesOf(error).includes('string')
      ? LONG_NUMBER
      : `must be ${either(typesOf(error).map((type) => NOUNS[type] ?? type))}`,
  enum: ({ params }) => oneOf((params as { allowedValues: unknown[] }).allowedValues),
  const: ({ params }) => `must be ${String((params as { allowedValue: unknown }).allowedValue)}`,
  format: ({ params }) => formatted((params as { format: string }).format),
  // a pattern beside a format says the same as the format
  pattern: ({ params, parentSchema }) => {
    const { pattern } = params as { pattern: string };
    if (PATTERNS[pattern] !== undefined) return PATTERNS[pattern];
    return typeof parentSchema?.['format'] === 'string' ? formatted(parentSchema['format']) : `must match ${pattern}`;
  },
  minLength: ({ params }) => (count(params) === 1 ? 'must not be empty' : `must have ${several(count(params), 'character')} or more`),
  maxLength: ({ params }) => `must have at most ${several(count(params), 'character')}`,
  minItems: ({ params }) => (count(params) === 1 ? 'must not be empty' : `must have ${several(count(params), 'item')} or more`),
  maxItems: ({ params }) => `must have at most ${several(count(params), 'item')}`,
  uniqueItems: () => 'must not name an item twice',
  minimum: ({ params }) => `must be at least ${count(params)}`,
  maximum: ({ params }) => `must be at most ${count(params)}`,
  exclusiveMinimum: ({ params }) => `must be more than ${count(params)}`,
  exclusiveMaximum: ({ params }) => `must be less than ${count(params)}`,
  additionalProperties: unknownMember,
  discriminator: (error) => oneOf(tagsOf(error)),
  contains: ({ parentSchema }) => `must hold exactly one ${(parentSchema?.['contains'] as { description: string }).description}`,
  dependentRequired: ({ params }) => `needs ${(params as { missingProperty: string }).missingProperty} beside it`,
};

/** Says what a broken rule asks for. */
export const printViolation = (error: ErrorObject): string => SENTENCES[error.keyword]?.(error) ?? 'is not as the document says';

const UNION = 'anyOf';

/**
 * Replaces what is said of a value that fits no member of a union. When the value has the type of a member, the broken rules of that member stay.
 * Otherwise one error lists the types that the union takes.
 */
export function joinUnions(all: readonly ErrorObject[]): ErrorObject[] {
  const unions = all.filter(({ keyword }) => keyword === UNION);
  if (unions.length === 0) return [...all];
  const isWithin = (error: ErrorObject, place: string) => error.instancePath === place || error.instancePath.startsWith(`${place}/`);
  return all
    .filter((error) => {
      const union = unions.find(({ instancePath }) => instancePath === error.instancePath);
      return union === undefined || (error.keyword !== UNION && error.keyword !== 'type');
    })
    .concat(
      unions.flatMap((union): ErrorObject[] => {
        const inner = all.filter((error) => error.keyword !== UNION && isWithin(error, union.instancePath));
        const types = inner.filter(({ instancePath, keyword }) => keyword === 'type' && instancePath === union.instancePath);
        return types.length < inner.length ? [] : [{ ...union, keyword: 'type', params: { type: types.flatMap(typesOf) } }];
      }),
    );
}
