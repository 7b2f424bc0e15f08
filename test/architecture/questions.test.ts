import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { FUNCTIONS, OPERATORS, parseAggregation, parseFilters } from '../../src/lakehouse/ask/request.ts';
import { BUCKETS } from '../../src/lakehouse/terms/plan.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8'));
const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: { uuid: true, 'date-time': true } }).addSchema(
  document,
  'document',
);
const fits = (name: string, value: unknown) => ajv.validate({ $ref: `document#/components/schemas/${name}` }, value);

/** Whether a read takes the text of a value. */
function isRead(read: (text: string) => unknown, value: unknown): boolean {
  try {
    read(JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

const filterOf = (operator: string, value: unknown = [1, 2]) => [{ column: 'phi2', operator, value }];
const callOf = (name: string) => ({ functions: [{ column: 'phi2', function: name, alias: 'out', secondColumn: 'leaf' }] });
const groupOf = (timeBucket: string) => ({ groupBy: [{ column: 'timestamp', timeBucket, timezone: 'Europe/Amsterdam' }] });

test('the document says of filters and aggregations what a read takes: every operator, function and bucket, and no other', () => {
  const { DataFilter, DataAggregation } = document.components.schemas;
  expect(DataFilter.properties.operator.enum).toEqual([...OPERATORS]);
  expect(DataAggregation.properties.functions.items.properties.function.enum).toEqual([...FUNCTIONS]);
  expect(DataAggregation.properties.groupBy.items.properties.timeBucket.enum).toEqual([...BUCKETS]);
  for (const name of OPERATORS) expect(DataFilter.properties.operator.description).toContain(`- \`${name}\`: `);
  for (const name of FUNCTIONS)
    expect(DataAggregation.properties.functions.items.properties.function.description).toContain(`- \`${name}\`: `);
  for (const value of [...OPERATORS.map((name) => filterOf(name)), filterOf('equals', null), filterOf('in', ['a']), []]) {
    expect(isRead(parseFilters, value), JSON.stringify(value)).toBe(true);
    expect(fits('DataFilters', value), JSON.stringify(value)).toBe(true);
  }
  for (const value of [...FUNCTIONS.map(callOf), ...BUCKETS.map(groupOf)]) {
    expect(isRead(parseAggregation, value), JSON.stringify(value)).toBe(true);
    expect(fits('DataAggregation', value), JSON.stringify(value)).toBe(true);
  }
  const wrongFilters = [
    filterOf('like'),
    [{ column: 'phi2' }],
    [{ ...filterOf('equals')[0], more: 1 }],
    filterOf('in', [{}]),
    {},
    filterOf('in', Array(1_001).fill(1)),
    Array(101).fill(filterOf('equals')[0]),
  ];
  for (const value of wrongFilters) {
    expect(isRead(parseFilters, value)).toBe(false);
    expect(fits('DataFilters', value)).toBe(false);
  }
  for (const value of [callOf('mode'), groupOf('decade'), { functions: [{ column: 'phi2' }] }, { groupBy: 1 }]) {
    expect(isRead(parseAggregation, value)).toBe(false);
    expect(fits('DataAggregation', value)).toBe(false);
  }
});

test('texts that hold filters or an aggregation say so', () => {
  const parameters = document.paths['/api/v1/experiments/{id}/data'].get.parameters as { name: string; schema: object }[];
  const held = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  expect(held['filters']).toMatchObject({
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: { $ref: '#/components/schemas/DataFilters' },
  });
  expect(held['aggregation']).toMatchObject({ contentSchema: { $ref: '#/components/schemas/DataAggregation' } });
  expect(JSON.stringify(document.components.schemas.NewExport.properties)).toContain(
    '"contentSchema":{"$ref":"#/components/schemas/DataFilters"}',
  );
});
