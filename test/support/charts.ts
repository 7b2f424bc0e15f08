import { ROLES } from '../../src/api/visualizations/roles.ts';
import type { ChartType, SourceRole } from '../../src/api/visualizations/visualizations.model.ts';

/** Days in the table `leaves`, each with a row of either treatment. */
export const days = 60;

/** A season of two treatments at two sites, with a few gaps. */
export function leavesCsv(): string {
  const rows = ['measured_at,treatment,site,spad,height,npq,sd'];
  for (let day = 0; day < days; day += 1)
    for (const [index, treatment] of ['control', 'drought'].entries()) {
      const at = new Date(Date.UTC(2026, 4, 1 + day)).toISOString();
      const spad = 40 + 10 * index + (day % 7);
      rows.push(
        `${at},${treatment},${day % 2 === 0 ? 'north' : 'south'},${spad === 43 ? '' : spad},${100 + day * 1.5},${(day % 5) / 10 + 0.01},1.5`,
      );
    }
  return rows.join('\n');
}

/** A column of `leaves` in a role of a chart. */
export const source = (role: string, columnName: string, more: object = {}) => ({ tableName: 'leaves', columnName, role, ...more });

const COLUMN: Partial<Record<SourceRole, string>> = {
  x: 'height',
  y: 'spad',
  z: 'npq',
  size: 'height',
  color: 'treatment',
  facet: 'site',
  labels: 'treatment',
  values: 'spad',
  value: 'spad',
  groupBy: 'treatment',
};
/** Columns of `leaves` for a whole chart of a type: what it requires, coloured where it can be. */
export const sourcesOf = (type: ChartType) =>
  (Object.keys(ROLES[type]) as SourceRole[])
    .filter((role) => ROLES[type][role]?.required === true || role === 'color')
    .flatMap((role) => [
      source(role, COLUMN[role] ?? ''),
      ...(role === 'groupBy' ? [source(role, 'site')] : []),
      ...(role === 'y' && ROLES[type].y?.many === true ? [source('y', 'npq'), source('y', 'height')] : []),
    ]);
