import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import type { TypeWord } from './readings.ts';

/** Prints a value as it would stand in a file that is to be read as the type `into`. */
export function printValue({ name, type }: Pick<ColumnState, 'name' | 'type'>, into: TypeWord): string {
  const value = quoteName(name);
  switch (type.kind) {
    case 'string':
      return value;
    case 'double':
      return `regexp_replace(${value}::varchar, '\\.0$', '')`;
    case 'timestamp':
      return `replace(strftime(timezone('UTC', ${value}), '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')`;
    case 'timestamp_ntz': {
      const time = `regexp_replace(strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f'), '\\.000000$', '')`;
      // where a day is wanted, a time at midnight is printed as its day
      return into === 'date' ? `case when ${value} = ${value}::date then ${value}::date::varchar else ${time} end` : time;
    }
    case 'variant':
      return `case json_type(${value}) when 'NULL' then null when 'VARCHAR' then ${value} ->> '$' else ${value}::varchar end`;
    case 'struct':
    case 'array':
      return `to_json(${value})::varchar`;
    case 'boolean':
    case 'int':
    case 'bigint':
    case 'decimal':
    case 'date':
      return `${value}::varchar`;
  }
}
