/** Plans relations over one table, from the columns that expressions name. */
import { DEFAULT_SORT, type Column } from '../terms/catalog.ts';
import { makeColumn } from './make.ts';
import { planScan } from './scan-columns.ts';
import { addDerived, listNeeded } from './derived.ts';
import type { Expr, Places, Plan, Sort } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import { makeColumnExpr, makeResolver, makeResolved, type Resolve } from '../ask/resolve.ts';
import type { Resolved } from '../ask/members.ts';

/** Builds relations over one table. Each scan reads only the columns that are used. */
export class Builder {
  readonly source: TableSource;
  readonly resolve: Resolve;
  readonly #columns: ReadonlyMap<string, Column>;

  constructor(source: TableSource) {
    this.source = source;
    this.#columns = new Map(source.columns.map((column) => [column.name, column]));
    this.resolve = makeResolver(source.columns);
  }

  visible(): Resolved[] {
    return this.source.columns.filter((column) => !column.hidden).map(makeResolved);
  }

  /** The order by the default sort column, then by the row id. */
  defaultOrder(): Sort[] {
    const names = [DEFAULT_SORT[this.source.table.kind], 'id'];
    return names.flatMap((name) => this.#columns.get(name) ?? []).map((column) => ({ expr: makeColumnExpr(column), descending: false }));
  }

  /** The id of a row, which every kind of table has. */
  rowId(): Expr {
    return makeColumn('id');
  }

  /** Makes a builder of the same table that reads only some of its files. */
  over(files: readonly string[]): Builder {
    return new Builder({ ...this.source, files });
  }

  /** Whether expressions read a column that no file holds and that must be looked up elsewhere. Columns of the kinds in `but` do not count. */
  derives(exprs: readonly Expr[], but: readonly Column['derived'][] = []): boolean {
    const isElsewhere = (derived: Column['derived']) =>
      derived !== undefined && !but.includes(derived) && (derived !== 'annotations' || this.source.annotations !== undefined);
    return [...listColumnNames(exprs)].some((name) => isElsewhere(this.#columns.get(name)?.derived));
  }

  /** Plans the rows at some places of the one file, with those of the file's columns that these expressions read. */
  at(places: Places, exprs: readonly Expr[]): Plan {
    return planScan(this.source, listColumnNames(exprs), places);
  }

  /**
   * Plans the scan, the derived columns that `early` and `where` use, and the filter. Derived columns of `late` can be added afterwards: the scan reads what
   * they need. `inOrder` keeps the order of files and of rows in them.
   */
  from(where: Expr | null, early: readonly Expr[], late: readonly Expr[] = [], inOrder?: true): { from: Plan; pending: Set<string> } {
    const derivedOf = (exprs: readonly Expr[]) => new Set([...listColumnNames(exprs)].filter((name) => this.#columns.get(name)?.derived));
    const wanted = [...early, ...late, ...(where ? [where] : [])];
    const first = derivedOf([...early, ...(where ? [where] : [])]);
    const all = derivedOf(wanted);
    const used = new Set([...listColumnNames(wanted), ...[...all].flatMap((name) => listNeeded(this.#columns.get(name)))]);
    let from = addDerived(planScan(this.source, used), this.source, first, inOrder);
    if (where) from = { kind: 'filter', from, where };
    return { from, pending: new Set([...all].filter((name) => !first.has(name))) };
  }
}

/** Lists the names of the columns that expressions read. */
export const listColumnNames = (exprs: readonly Expr[]): Set<string> => {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) {
      if ('kind' in value && value.kind === 'column' && 'name' in value) names.add(String(value.name));
      Object.values(value).forEach(visit);
    }
  };
  visit(exprs);
  return names;
};
