// `filters`, `aggregation` and `chart`: JSON text in a query, the first two also values in a body. What stands in them is said once, as schemas with every operator, function and bucket.
import { MAX_FILTERS, type FunctionName, type Operator } from '../../src/lakehouse/ask/request.ts';
import { BUCKETS } from '../../src/lakehouse/terms/plan.ts';

interface Schema {
  [keyword: string]: unknown;
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

const OPERATORS: Readonly<Record<Operator, string>> = {
  equals: 'the value; `""` finds empty text',
  not_equals: 'another value, or none',
  greater_than: 'more, or later',
  less_than: 'less, or earlier',
  greater_than_or_equal: 'as much or more',
  less_than_or_equal: 'as much or less',
  between: 'a list of two values, both included',
  contains: 'text that holds the value as it is written',
  in: 'a list of which any may be equal',
  not_in: 'a list of which none may be equal; rows without a value stay',
  is_null: 'no value; takes none',
  is_not_null: 'any value; takes none',
  starts_with: 'text that begins with the value as it is written',
  has_flag: 'of `annotations`: rows with a flag of this type, or of any of a list',
  has_no_flag: 'of `annotations`: rows without one',
};

const FUNCTIONS: Readonly<Record<FunctionName, string>> = {
  sum: 'sum, exact where the column is',
  avg: 'mean',
  count: 'values that are there; of `*`, rows',
  min: 'least value',
  max: 'greatest value',
  std: 'standard deviation of the sample',
  var: 'variance of the sample',
  sem: 'standard error of the mean',
  ci95: "half of the mean's 95 % confidence interval, by Student's t",
  median: 'median, interpolated',
  p05: '5th percentile, interpolated',
  p95: '95th percentile, interpolated',
  first: 'first value in the default order of the table',
  last: 'last value in that order',
  cumsum: 'running sum over the groups, within the other group keys',
  corr: "Pearson's correlation with `secondColumn`",
  count_distinct: 'different values',
};

const listOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names)
    .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
    .join('\n');

const COLUMN = 'Name of a column, or of a member: `data.phi2::double`.';

/** Says in the schemas of a filter and an aggregation what each of their members means. */
function describeQuestion({ properties: filter = {} }: Schema, { properties: aggregation = {} }: Schema): void {
  const group = aggregation['groupBy']?.items?.properties ?? {};
  const call = aggregation['functions']?.items?.properties ?? {};
  const say = (schema: Schema | undefined, description: string) => {
    if (!schema) throw new Error(`there is no member for '${description}'`);
    schema.description = description;
  };
  say(filter['column'], COLUMN);
  say(filter['operator'], `What must hold of the value of the column:\n${listOf(OPERATORS)}`);
  say(filter['value'], 'One value or a list of at most 1,000, as the operator takes it, of the type of the column.');
  say(aggregation['groupBy'], 'Columns whose values make the groups; without any, all rows are one group.');
  say(group['column'], COLUMN);
  say(
    group['timeBucket'],
    `Groups times by ${BUCKETS.slice(0, -1).join(', ')} or ${String(BUCKETS.at(-1))}; the value is the instant at which it begins.`,
  );
  say(group['timezone'], 'IANA name of the zone whose clock and calendar the bucket follows; UTC without it.');
  say(aggregation['functions'], 'What is computed of each group.');
  say(call['column'], `${COLUMN} \`*\` stands for the row, with \`count\` and \`cumsum\`.`);
  say(call['function'], `What is computed:\n${listOf(FUNCTIONS)}`);
  say(call['alias'], 'Name of the column of the answer; without it, the column and the function: `phi2_avg`.');
  say(call['secondColumn'], 'The other column of `corr`.');
}

/** Texts that hold JSON, by the name of their parameter or member, and the schema of what they hold. */
const HELD: Readonly<Record<string, string>> = { filters: 'DataFilters', aggregation: 'DataAggregation', chart: 'ChartDraft' };

function describeText(name: string, schema: Schema): void {
  const text = schema.type === 'string' ? schema : schema.anyOf?.find(({ type }) => type === 'string');
  if (text)
    Object.assign(text, { contentMediaType: 'application/json', contentSchema: { $ref: `#/components/schemas/${HELD[name] ?? ''}` } });
}

interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string; schema: Schema }[] }>>;
  components: { schemas: Record<string, Schema> };
}

/** Says what texts of JSON hold, wherever they stand. */
export function describeQuestions({ paths, components: { schemas } }: Document): void {
  const { DataFilter, DataAggregation } = schemas;
  if (!DataFilter || !DataAggregation) throw new Error('there is no schema of filters or aggregations');
  describeQuestion(DataFilter, DataAggregation);
  schemas['DataFilters'] = {
    type: 'array',
    description: 'All of them must hold.',
    maxItems: MAX_FILTERS,
    items: { $ref: '#/components/schemas/DataFilter' },
  };
  for (const name of Object.keys(HELD)) {
    for (const { properties = {} } of Object.values(schemas)) if (properties[name]) describeText(name, properties[name]);
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item)))
      for (const parameter of operation.parameters ?? []) if (parameter.name === name) describeText(name, parameter.schema);
  }
}
