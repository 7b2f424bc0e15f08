/** Makes the expressions that plans are most often of. */
import { STRING, type ColumnType } from '../terms/catalog.ts';
import type { Expr, Output, ValueExpr } from '../terms/plan.ts';

export const makeColumn = (name: string, type: ColumnType = STRING): Expr => ({ kind: 'column', name, type });
export const makeValue = (value: ValueExpr['value'], type: ColumnType = STRING): ValueExpr => ({ kind: 'value', value, type });
export const makeOutput = (name: string, expr: Expr): Output => ({ as: name, name, expr });
export const makeEqual = (left: Expr, right: Expr): Expr => ({ kind: 'compare', how: 'equals', left, right });
