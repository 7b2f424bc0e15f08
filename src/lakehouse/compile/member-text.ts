/** Says how members of documents must be written to be read as values. Engines cast more texts than these, but not the same ones. */
import type { MemberType } from '../terms/plan.ts';

const YEAR = '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})';
const DAY = '-[0-9]{2}-[0-9]{2}';
const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?';

/** The pattern of the texts that are read as each type; null where any text is. */
export const PATTERNS: Readonly<Record<MemberType['kind'], string | null>> = {
  string: null,
  double: '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$',
  bigint: '^-?[0-9]+$',
  boolean: '^(true|false)$',
  date: `^${YEAR}${DAY}$`,
  // engines write some times of other years differently once they are in UTC
  timestamp: `^([1-8][0-9]{3}|9[0-8][0-9]{2})${DAY}T${CLOCK}(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])$`,
};
