import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SearchResult } from './search.model.ts';

/** Finds the best matches among what this person may read, best first. */
export const search = (db: Queryable, userId: string, term: string, limit: number) =>
  db.rows<SearchResult>(sql('search.search')`
    select r.type, r.id, r.name as title, r.description as subtitle, coalesce(p.family, m.language) as meta
    from search_ids(${userId}, array['experiment', 'protocol', 'macro', 'workbook'], false, ${term}, null, null, ${limit}) found
    join resources r on r.id = found.id
    left join protocols p on p.id = r.id
    left join macros m on m.id = r.id
    order by found.position`);
