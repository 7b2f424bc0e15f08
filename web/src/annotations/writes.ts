import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api, queryClient } from '../api.ts';

/** Rows of one table, by their ids. */
export interface RowsNamed {
  experimentId: string;
  table: string;
  rowIds: readonly string[];
}

/** The flags that a row can get. */
export const FLAGS = ['outlier', 'needs_review'] as const;
type Flag = (typeof FLAGS)[number];

/** What is said of rows: a comment, or a flag with or without words. */
export interface Saying {
  flag: Flag | null;
  text: string;
}

/** Adds the same annotation to each row, in one request: all rows get it, or none. Answers how many. */
export async function annotateRows({ experimentId, table, rowIds }: RowsNamed, { flag, text }: Saying): Promise<number> {
  const annotation =
    flag === null
      ? ({ type: 'comment', content: { type: 'comment', text } } as const)
      : ({ type: 'flag', content: { type: 'flag', flagType: flag, ...(text === '' ? {} : { text }) } } as const);
  const answer = await bodyOf(
    api.POST('/api/v1/experiments/{id}/data/annotations/bulk', {
      params: { path: { id: experimentId } },
      body: { tableName: table, rowIds: [...rowIds], annotation },
    }),
  );
  return answer.rowsAffected;
}

export const removeAnnotation = async (experimentId: string, annotationId: string): Promise<unknown> =>
  api.DELETE('/api/v1/experiments/{id}/data/annotations/{annotationId}', { params: { path: { id: experimentId, annotationId } } });

/** Asks anew for what is shown of an experiment's rows. Ends when the open row is there; the grid follows. */
export async function renewRows(experimentId: string): Promise<void> {
  void queryClient.invalidateQueries({ queryKey: ['rows', experimentId] });
  await queryClient.invalidateQueries({ queryKey: ['row', experimentId] });
}
