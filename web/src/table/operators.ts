/** How many values an operator takes. */
type Takes = 'none' | 'one' | 'two' | 'many';

interface OperatorFacts {
  takes: Takes;
  /** As a person says it, between the column and the values. */
  says: string;
}

/** Every condition that the API knows, and how it is said. */
const FACTS = {
  equals: { takes: 'one', says: 'is' },
  not_equals: { takes: 'one', says: 'is not' },
  greater_than: { takes: 'one', says: 'is more than' },
  greater_than_or_equal: { takes: 'one', says: 'is at least' },
  less_than: { takes: 'one', says: 'is less than' },
  less_than_or_equal: { takes: 'one', says: 'is at most' },
  between: { takes: 'two', says: 'is between' },
  contains: { takes: 'one', says: 'contains' },
  starts_with: { takes: 'one', says: 'begins with' },
  in: { takes: 'many', says: 'is one of' },
  not_in: { takes: 'many', says: 'is none of' },
  is_null: { takes: 'none', says: 'has no value' },
  is_not_null: { takes: 'none', says: 'has a value' },
  has_flag: { takes: 'many', says: 'holds the flag' },
  has_no_flag: { takes: 'many', says: 'does not hold the flag' },
} as const satisfies Record<string, OperatorFacts>;

export type Operator = keyof typeof FACTS;
export const OPERATORS = Object.keys(FACTS) as Operator[];
export const factsOf = (operator: Operator): OperatorFacts => FACTS[operator];

/** Columns whose values have an order that people mean. */
const isOrdered = (type: string) => /^(DOUBLE|FLOAT|INT|BIGINT|DECIMAL|DATE|TIMESTAMP)/.test(type);

/** The conditions that make sense for a column. */
export function operatorsOf(column: { name: string; type: string }): Operator[] {
  if (column.name === 'annotations') return ['has_flag', 'has_no_flag'];
  const missing: Operator[] = ['is_null', 'is_not_null'];
  if (column.type === 'BOOLEAN') return ['equals', 'not_equals', ...missing];
  if (isOrdered(column.type))
    return ['equals', 'not_equals', 'greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal', 'between', ...missing];
  return ['equals', 'not_equals', 'contains', 'starts_with', 'in', 'not_in', ...missing];
}

interface Said {
  column: string;
  operator: Operator;
  value?: unknown;
}

/** A filter as a sentence: `treatment is drought`. */
export function sentenceOf({ column, operator, value }: Said): string {
  const { takes, says } = FACTS[operator];
  const values = (Array.isArray(value) ? value : [value]).map(String);
  const tail = { none: '', one: values.join(''), two: values.join(' and '), many: values.join(', ') }[takes];
  return `${column} ${says}${tail === '' ? '' : ` ${tail}`}`;
}

/** The values of a column that is true or false, as they are chosen. */
export const TRUTHS: readonly string[] = ['true', 'false'];

const isNumeric = (type: string) => /^(DOUBLE|FLOAT|INT|BIGINT|DECIMAL)/.test(type);

/** What a column's type needs of a text, where not every text will do. */
const FITS = {
  number: (text: string) => text.trim() !== '' && !Number.isNaN(Number(text)),
  day: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text.trim()),
  time: (text: string) => /^\d{4}-\d\d-\d\d/.test(text.trim()),
};

/** A text, and what it is not though its column's type needs it. */
export interface Misfit {
  needed: keyof typeof FITS;
  text: string;
}

/** The first of the texts that is no number, day or time where a column's type needs one; undefined without any. */
export function findMisfit(texts: readonly string[], type: string): Misfit | undefined {
  const needed = isNumeric(type) ? 'number' : type === 'DATE' ? 'day' : type.startsWith('TIMESTAMP') ? 'time' : undefined;
  const text = needed && texts.find((each) => !FITS[needed](each));
  return needed === undefined || text === undefined ? undefined : { needed, text };
}

/** What was typed, as a value of the column's type. Text that is none stays text, and the service says what is wrong. */
export function operandOf(text: string, type: string): string | number | boolean {
  if (type === 'BOOLEAN') return TRUTHS.includes(text) ? text === 'true' : text;
  const number = Number(text);
  return isNumeric(type) && text.trim() !== '' && Number.isSafeInteger(Math.trunc(number)) ? number : text;
}

/** Values as they are typed into one field: separated by commas, and in double quotes where a value has a comma or a quote of its own. */
export const joinValues = (values: readonly unknown[]): string =>
  values
    .map(String)
    .map((text) => (/[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
    .join(', ');

/** The texts of values that were typed as `joinValues` writes them. */
export const splitValues = (typed: string): string[] =>
  Array.from(typed.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))/g), ([, quoted, bare = '']) =>
    quoted === undefined ? bare.trim() : quoted.replaceAll('""', '"'),
  );
