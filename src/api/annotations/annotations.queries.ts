import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Notes that a person annotates an experiment; answers whether its identity dimension already shows the person. */
export const noteAnnotator = (db: Queryable, experimentId: string, userId: string) =>
  db.value<boolean>(sql('annotations.noteAnnotator')`
    with noted as (
      insert into annotators (experiment_id, user_id) select id, ${userId} from experiments where id = ${experimentId} on conflict do nothing
    )
    select is_named from annotators where experiment_id = ${experimentId} and user_id = ${userId}`);

export const markAnnotatorNamed = (db: Queryable, experimentId: string, userId: string) =>
  db.run(sql('annotations.markAnnotatorNamed')`
    update annotators set is_named = true where experiment_id = ${experimentId} and user_id = ${userId}`);

export const findNextSequence = async (db: Queryable) =>
  (await db.value<number>(sql('annotations.nextSequence')`select nextval('annotation_changes')`)) ?? 0;
