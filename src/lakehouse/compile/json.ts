/** Prints values as JSON text. The engines differ only in what `Printers` prints. */
import type { ColumnType } from '../terms/catalog.ts';
import { bound, joinFragments, q, raw, type Dialect, type Fragment } from '../terms/dialect.ts';
import { SAFE } from '../terms/large-integers.ts';

interface Printers extends Pick<Dialect, 'quote'> {
  /** Prints the text of a value without quotes; null where the value is null or not finite. */
  bare: (of: Fragment, type: ColumnType) => Fragment;
  /** Puts quotes around text that needs no escapes. */
  quoted: (of: Fragment) => Fragment;
  text: (of: Fragment) => Fragment;
  document: (of: Fragment) => Fragment;
  /** Prints a list from the text that each of its elements, under a name, is printed as. */
  list: (of: Fragment, element: Fragment, text: Fragment) => Fragment;
}

/** Makes what prints a value of any type as JSON text, or null. */
export const makeJsonPrinter = ({ quote, bare, quoted, text, document, list }: Printers): Dialect['json'] => {
  const print = (of: Fragment, type: ColumnType, depth = 0): Fragment => {
    switch (type.kind) {
      case 'bigint':
        return q`case when ${of} between -${raw(SAFE)} and ${raw(SAFE)} then ${bare(of, type)} else ${quoted(bare(of, type))} end`;
      case 'decimal':
      case 'date':
      case 'timestamp':
      case 'timestamp_ntz':
        return quoted(bare(of, type));
      case 'string':
        return text(of);
      case 'variant':
        return document(of);
      case 'struct': {
        const members = type.fields.map(({ name, type: inner }, index) => {
          const begin = bound(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`, { kind: 'string' });
          return q`${begin}, ${orNull(print(q`${of}.${raw(quote(name))}`, inner, depth))}`;
        });
        return q`case when ${of} is not null then concat(${joinFragments(members)}, '}') end`;
      }
      case 'array': {
        const element = raw(`e${depth}`);
        return list(of, element, orNull(print(element, type.element, depth + 1)));
      }
      case 'boolean':
      case 'int':
      case 'double':
        return bare(of, type);
    }
  };
  return (of, type) => print(of, type);
};

const orNull = (of: Fragment) => q`coalesce(${of}, 'null')`;
