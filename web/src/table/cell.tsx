import { words } from '../words.ts';

const isNumber = (type: string) => /^(DOUBLE|FLOAT|INT|BIGINT|DECIMAL|SMALLINT)/.test(type);

/** How wide a column is, in pixels: as its values are, and wide enough for all but the longest names with the arrow of an order. */
export const widthOf = ({ name, type_name: type }: { name: string; type_name: string }): number => {
  const values = isNumber(type) ? 128 : type.startsWith('TIMESTAMP') ? 248 : type === 'BOOLEAN' ? 96 : 184;
  return Math.max(values, Math.min(320, 56 + name.length * 10));
};

/** On which side values of a type stand: numbers are compared by their last digits. */
export const alignOf = (type: string): 'end' | 'start' => (isNumber(type) ? 'end' : 'start');

/** Columns whose every digit says where something was. */
export const PLACE = /^(lat|long)itude$/;

const SIGNIFICANT = 6;

/** A number in the digits that mean something, where what computed it left many more; null where it stands as it is. No digit before the point is lost. */
export function roundedOf(value: unknown, type: string): string | null {
  if (typeof value !== 'number' || !/^(DOUBLE|FLOAT)/.test(type)) return null;
  const digits = Math.max(SIGNIFICANT, Math.trunc(Math.abs(value)).toString().length);
  if (digits > 15 || String(value).replace(/^-?0?\.?0*|e.*|\./g, '').length <= digits + 4) return null;
  return String(Number(value.toPrecision(digits)));
}

/** A value as text; null for a value that is missing. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A value in short: a person or a device by its name, a list by its length. A document is shown whole: a name in it is one member of many. */
function shortOf(value: object, type: string): string {
  if (Array.isArray(value)) return words.table.several(value.length);
  const { name } = value as { name?: unknown };
  return type.startsWith('STRUCT') && typeof name === 'string' ? name : JSON.stringify(value);
}

/** Names an instant by the date that it has in a zone. */
export type Dater = (instant: string) => string;

interface CellProps {
  value: unknown;
  type: string;
  dateOf?: Dater | undefined;
  /** Whether the service computed it, which leaves more digits than mean something. */
  isComputed?: boolean;
}

/** A value in the grid: what is missing and what is empty are told apart, moments lose their `T` and `Z`. */
export function Cell({ value, type, dateOf, isComputed = false }: CellProps) {
  const rounded = isComputed ? roundedOf(value, type) : null;
  if (rounded !== null)
    return (
      <data value={String(value)} title={String(value)}>
        {rounded}
      </data>
    );
  if (Array.isArray(value) && value.length === 0) return <span className="cell-null">{words.table.emptyList}</span>;
  const text = typeof value === 'object' && value !== null ? shortOf(value, type) : textOf(value);
  if (text === null) return <span className="cell-null">{words.table.null}</span>;
  if (text === '') return <span className="cell-null">{words.table.emptyText_}</span>;
  if (type.startsWith('TIMESTAMP'))
    return (
      <time dateTime={text}>
        {dateOf !== undefined
          ? dateOf(text)
          : text.replace('T', ' ').replace(/(\.\d*?)0*Z?$|Z$/, (_, fraction?: string) => (fraction ?? '').replace(/\.$/, ''))}
      </time>
    );
  return text;
}
