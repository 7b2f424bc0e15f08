import type { MacroLanguage } from '../../src/sandbox/job.ts';
import type { Pair } from './reference.ts';

export interface Difference {
  /** The row of the table in docs/macros.md begins with this. */
  told: string;
  languages: readonly MacroLanguage[];
  covers: (pair: Pair, language: MacroLanguage) => boolean;
  /** Where only the last digits differ: what they may differ by. Not every pair needs to; without it every pair does. */
  within?: number;
}

const MESSAGES = ['info', 'warning', 'danger'];
const isList = (arg: unknown): boolean => typeof arg === 'object' && arg !== null && (arg as { $?: string }).$ === 'list';
const itemsOf = (arg: unknown): unknown[] => (Array.isArray(arg) ? arg : isList(arg) ? (arg as { items: unknown[] }).items : []);
/** What R has as a list, and could be a vector of numbers. */
const isListOfNumbers = (arg: unknown): boolean =>
  isList(arg) || itemsOf(arg).some(Array.isArray)
    ? itemsOf(arg)
        .flat()
        .every((item) => typeof item === 'number' || item === null)
    : false;
const hasNullLabel = (json: unknown): boolean =>
  itemsOf((json as { set?: unknown } | null)?.set).some((entry) => (entry as { label?: unknown }).label === null);
const isLine = (arg: unknown): boolean =>
  itemsOf(arg).length > 0 && itemsOf(arg).every((pair) => Array.isArray(pair) && pair[0] === pair[1]);
const startsAtSix = (arg: unknown): boolean => itemsOf(arg).length >= 4 && itemsOf(itemsOf(arg)[0])[1] === 6;
const rowsOf = (arg: unknown): unknown[][] => (arg as { rows?: unknown[][] } | null)?.rows ?? [];
const isConstant = (rows: unknown[][]): boolean => rows.length > 1 && rows.every((row) => row.at(-1) === rows[0]!.at(-1));

/** Everything in which a helper of ours may differ from that of the reference: each a row of the table in docs/macros.md. */
export const DIFFERENCES: readonly Difference[] = [
  {
    told: '`info(message)`',
    languages: ['javascript', 'python', 'r'],
    covers: ({ name, args }, language) => MESSAGES.includes(name) && args.length < 2 && (args.length === 1 || language === 'javascript'),
  },
  {
    told: 'a list of numbers in R',
    languages: ['r'],
    covers: ({ name, args, throws }) =>
      throws === true && (/^Math(?:MEDIAN|STD|VAR|SUM|LINREG)/.test(name) || name === 'TransformTrace') && args.some(isListOfNumbers),
  },
  {
    told: 'a label that is null in R',
    languages: ['r'],
    covers: ({ name, args, throws }) => throws === true && /^Get(?:Index|Protocol)ByLabel$/.test(name) && hasNullLabel(args[1]),
  },
  {
    told: '`MathEXPINVREG` in Python, last digits',
    languages: ['python'],
    covers: ({ name, args }) => name === 'MathEXPINVREG' && !isLine(args[0]),
    within: 1e-7,
  },
  {
    told: '`MathEXPINVREG` in Python of a straight line',
    languages: ['python'],
    covers: ({ name, args }) => name === 'MathEXPINVREG' && isLine(args[0]),
  },
  {
    told: '`MathEXPINVREG` in R of one value',
    languages: ['r'],
    covers: ({ name, args }) => name === 'MathEXPINVREG' && isConstant(rowsOf(args[0])),
  },
  {
    told: '`MathMULTREG` in R of one value',
    languages: ['r'],
    covers: ({ name, args }) => name === 'MathMULTREG' && isConstant(rowsOf(args[0])),
  },
  {
    told: '`NonLinearRegression` in R, last digits',
    languages: ['r'],
    covers: ({ name, result }) =>
      name === 'NonLinearRegression' && (result as { text?: string } | undefined)?.text === 'Exponential decay fit completed',
    within: 1e-7,
  },
  {
    told: '`NonLinearRegression` in JavaScript, number of steps',
    languages: ['javascript'],
    covers: ({ name, args }) => name === 'NonLinearRegression' && startsAtSix(args[0]),
  },
];
