/** How members of documents are written that are read as values: engines cast more than this, and not the same. */
import type { MemberType } from '../terms/plan.ts';

const YEAR = '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})';
const DAY = '-[0-9]{2}-[0-9]{2}';
const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?';

/** Of each type the text that is read as one; null where any is. */
export const PATTERNS: Readonly<Record<MemberType['kind'], string | null>> = {
  string: null,
  double: '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$',
  bigint: '^-?[0-9]+$',
  boolean: '^(true|false)$',
  date: `^${YEAR}${DAY}$`,
  // of other years the engines write some in other ways once they are UTC
  timestamp: `^([1-8][0-9]{3}|9[0-8][0-9]{2})${DAY}T${CLOCK}(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])$`,
};
