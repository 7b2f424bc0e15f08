/** What a value is, one bit for each class. A column has the union of its values' bits. `pipelines/` names the bits, and is printed with their numbers. */

/** What `text_class` says of a text. */
export const TEXT_CLASSES = {
  /** Whole, within 32 bits. */
  int: 1,
  /** Whole, within 2^53. */
  long: 2,
  /** Whole, within 64 bits. */
  bigint: 4,
  /** A number whose value a DOUBLE keeps. */
  double: 8,
  /** A plain number whose value only a DECIMAL can keep. */
  decimal: 16,
  date: 32,
  instant: 64,
  localTime: 128,
  text: 256,
  /** The empty string. */
  empty: 512,
  /** JSON true or false. */
  boolean: 1_024,
  /** A JSON object or array. */
  nested: 2_048,
} as const;

/** The classes of numbers. */
export const NUMBER_CLASSES = TEXT_CLASSES.int | TEXT_CLASSES.long | TEXT_CLASSES.bigint | TEXT_CLASSES.double | TEXT_CLASSES.decimal;

/** What `sent_kind` says of a field of a delimited file, besides a bit of `TEXT_CLASSES`. */
export const SENT_CLASSES = {
  missing: 4_096,
  /** A number with a decimal comma. */
  comma: 8_192,
  /** Groups of three digits between points: a whole number where the comma is the decimal mark. A bit for numbers may stand beside it. */
  grouped: 16_777_216,
  /** Set besides another bit: the value has blanks around it, or is written like `.5`. */
  untidy: 2_097_152,
  /** Digits with a leading zero, which a number would lose. */
  code: 4_194_304,
  /** A time that microseconds cannot say. */
  finer: 33_554_432,
  /** Perhaps one of `DAY_CLASSES`. */
  dayLike: 8_388_608,
} as const;

/** What `day_kind` says of a field that is `dayLike`: every bit that holds. */
export const DAY_CLASSES = {
  ymd: 16_384,
  /** The day can come first. */
  dmy: 32_768,
  /** The day comes first, or it is no day but a version: `3.4.26`. */
  shortDmy: 67_108_864,
  /** The month can come first. */
  mdy: 65_536,
  /** It is the same day in both orders. */
  same: 262_144,
  /** The month has a name. */
  named: 524_288,
  /** A time follows the day. */
  timed: 1_048_576,
} as const;

const BITS: Readonly<Record<string, number>> = { ...TEXT_CLASSES, ...SENT_CLASSES, ...DAY_CLASSES };

/** Prints the numbers of named bits: `{{int}}` is 1, `{{int|long}}` is 3. Throws on a name that is no class. */
export const printClasses = (sql: string): string =>
  sql.replace(/\{\{([\w|]+)\}\}/g, (_, names: string) => {
    const bits = names.split('|').map((name) => {
      const bit = BITS[name];
      if (bit === undefined) throw new Error(`the pipelines name a class that is not there: ${name}`);
      return bit;
    });
    return String(bits.reduce((union, bit) => union | bit, 0));
  });
