import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';
import type { Metadata } from './draft.ts';

const TABLES = '/api/v1/experiments/{id}/metadata';
const TABLE = '/api/v1/experiments/{id}/metadata/{metadataId}';

/** Each comes with all its rows, so that a page has few. */
export const PAGE_SIZE = 10;

export type MetadataRecord = AnswerTo<typeof TABLE, 'get'>;

export interface Read {
  record: MetadataRecord;
  /** Tag of the version that was read, for a change. */
  tag: string;
}

const readOf = ({ data, response }: { data?: MetadataRecord; response: Response }): Read => {
  if (data === undefined) throw new Error('The answer holds no metadata table.');
  return { record: data, tag: response.headers.get('etag') ?? '*' };
};

const keyOf = (id: string) => ['metadata', id];

/** A page of the metadata tables of an experiment, newest first. */
export const metadataListQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: [...keyOf(id), 'list', page],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET(TABLES, { params: { path: { id }, query: { page, pageSize: PAGE_SIZE } }, signal });
      return { records: data ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    placeholderData: keepPreviousData,
  });

export const metadataQuery = (id: string, metadataId: string) =>
  queryOptions({
    queryKey: [...keyOf(id), 'one', metadataId],
    queryFn: async ({ signal }) => readOf(await api.GET(TABLE, { params: { path: { id, metadataId } }, signal })),
  });

/** What measurements hold in the column that identifiers are matched with. */
export const matchedQuery = (id: string, column: string) =>
  queryOptions({
    queryKey: ['rows', id, 'matched', column],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/experiments/{id}/data/distinct', {
          params: { path: { id }, query: { tableName: 'raw_data', column, limit: 1_000 } },
          signal,
        }),
      ),
  });

/** Asks anew for the lists of metadata tables, and for what stands beside measurements. */
async function renew(id: string): Promise<void> {
  const keys = [[...keyOf(id), 'list'], tablesQuery(id).queryKey, ['rows', id]];
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** Makes a metadata table and answers its id. */
export async function makeMetadata(id: string, metadata: Metadata): Promise<string> {
  const { metadataId } = await bodyOf(api.POST(TABLES, { params: { path: { id } }, body: { metadata } }));
  await renew(id);
  return metadataId;
}

interface Target {
  id: string;
  metadataId: string;
  tag: string;
}

const callOf = ({ id, metadataId, tag }: Target) => ({ params: { path: { id, metadataId } }, headers: { 'if-match': tag } });

/** Replaces a metadata table, unless somebody else did so since its tag was read. */
export async function replaceMetadata(target: Target, metadata: Metadata): Promise<Read> {
  const read = readOf(await api.PUT(TABLE, { ...callOf(target), body: { metadata } }));
  const { queryKey } = metadataQuery(target.id, target.metadataId);
  // a reading that is under way may be older than the change
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, read);
  await renew(target.id);
  return read;
}

export async function removeMetadata(target: Target): Promise<void> {
  await api.DELETE(TABLE, callOf(target));
  queryClient.removeQueries({ queryKey: metadataQuery(target.id, target.metadataId).queryKey });
  await renew(target.id);
}
