import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api, queryClient } from '../api.ts';

/** What a person said of a row, as the `annotations` column of a read has it. */
export interface Annotation {
  id: string;
  type: 'comment' | 'flag';
  content: { text: string | null; flagType: string | null };
  createdBy: string | null;
  createdByName: string | null;
  createdAt: string;
}

/** Rows of one table, by their ids. */
export interface RowsNamed {
  experimentId: string;
  table: string;
  rowIds: readonly string[];
}

/** The flags that a row can get. */
export const FLAGS = ['outlier', 'needs_review'] as const;
type Flag = (typeof FLAGS)[number];
/** The flag of a name; null for what is none. */
export const findFlag = (name: string | undefined): Flag | null => FLAGS.find((each) => each === name) ?? null;

/** Characters that the words of an annotation have at most. */
export const LONGEST_TEXT = 255;

/** What is said of rows: a comment, or a flag with or without words. */
export interface Saying {
  flag: Flag | null;
  text: string;
}

const annotationOf = ({ flag, text }: Saying) =>
  flag === null
    ? ({ type: 'comment', content: { type: 'comment', text } } as const)
    : ({ type: 'flag', content: { type: 'flag', flagType: flag, ...(text === '' ? {} : { text }) } } as const);

/** Adds the same annotation to each row, in one request: all rows get it, or none. Answers how many. */
export async function annotateRows({ experimentId, table, rowIds }: RowsNamed, saying: Saying): Promise<number> {
  const answer = await bodyOf(
    api.POST('/api/v1/experiments/{id}/data/annotations/bulk', {
      params: { path: { id: experimentId } },
      body: { tableName: table, rowIds: [...rowIds], annotation: annotationOf(saying) },
    }),
  );
  return answer.rowsAffected;
}

/** Changes what an annotation says. A comment stays one, and a flag too. */
export const changeAnnotation = async (experimentId: string, annotationId: string, saying: Saying): Promise<unknown> =>
  api.PATCH('/api/v1/experiments/{id}/data/annotations/{annotationId}', {
    params: { path: { id: experimentId, annotationId } },
    body: { content: annotationOf(saying).content },
  });

export const removeAnnotation = async (experimentId: string, annotationId: string): Promise<unknown> =>
  api.DELETE('/api/v1/experiments/{id}/data/annotations/{annotationId}', { params: { path: { id: experimentId, annotationId } } });

/** Asks anew for what is shown of an experiment's rows. Ends when the open row is there; the grid follows. */
export async function renewRows(experimentId: string): Promise<void> {
  void queryClient.invalidateQueries({ queryKey: ['rows', experimentId] });
  await queryClient.invalidateQueries({ queryKey: ['row', experimentId] });
}
