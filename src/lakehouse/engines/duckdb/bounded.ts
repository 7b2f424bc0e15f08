import { JsonDuckDBValueConverter, type DuckDBValueConverter, type Json } from '@duckdb/node-api';
import { errors } from '../../../errors.ts';

const MIB = 1_048_576;
/** Characters of an answer that is held in memory as a whole, and several times while it is sent. */
const MOST_CHARACTERS = 64 * MIB;

/** Makes what converts the values of one answer. It refuses the value with which they are too long, before the others are in the memory of the service. */
export function makeBoundedConverter(): DuckDBValueConverter<Json> {
  let characters = 0;
  return (value, type, convert) => {
    if (typeof value === 'string') characters += value.length;
    if (characters > MOST_CHARACTERS)
      throw errors.queryRefused(
        `The rows of this answer are longer than ${MOST_CHARACTERS / MIB} MiB together. Ask for fewer rows or columns, or for a stream such as CSV or NDJSON.`,
      );
    return JsonDuckDBValueConverter(value, type, convert);
  };
}
