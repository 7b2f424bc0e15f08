import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import {
  previewFiles,
  uploadFiles,
  type PreviewFields,
  type UploadPreview,
  type UploadReport,
} from '../../../clients/typescript/src/uploads.ts';
import { api, queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';
import { uploadFieldsOf, type Chosen } from './chosen.ts';
import { placeOf } from './folders.ts';
import { sendCounted, type Sent } from './send.ts';

const POLL_MS = 1_000;
export const PAGE_SIZE = 20;

export type { UploadReport };
export type UploadFile = UploadReport['files'][number];
export type PreviewedFile = UploadPreview['files'][number];
export type PreviewedColumn = PreviewedFile['columns'][number];
export type UploadedColumn = UploadFile['columns'][number];

export const isRunning = ({ status }: Pick<UploadReport, 'status'>): boolean => status === 'pending' || status === 'running';

/** One upload, asked for again and again until it is read. */
export const uploadQuery = (id: string, uploadId: string) =>
  queryOptions({
    queryKey: ['upload', id, uploadId],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/experiments/{id}/data/uploads/{uploadId}', { params: { path: { id, uploadId } }, signal })),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isRunning(data) ? POLL_MS : false),
  });

/** What an upload of files would decide; while another is asked for, the last one stays. */
export const previewQuery = (id: string, fields: PreviewFields, files: readonly File[]) =>
  queryOptions({
    queryKey: ['upload-preview', id, fields, files.map((file) => [placeOf(file), file.size, file.lastModified])],
    queryFn: ({ signal }) => previewFiles(api, id, fields, files, { signal }),
    placeholderData: keepPreviousData,
    // files do not change; whoever comes back asks anew, since the table may have changed
    staleTime: Infinity,
    gcTime: 0,
  });

/** A page of the experiment's uploads, newest first. */
export const historyQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['uploads', id, 'history', page],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/api/v1/experiments/{id}/data/uploads', {
        params: { path: { id }, query: { page, pageSize: PAGE_SIZE } },
        signal,
      });
      return { uploads: data?.uploads ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    refetchInterval: ({ state: { data } }) => (data?.uploads.some(isRunning) === true ? 2 * POLL_MS : false),
  });

/** Asks anew for the tables, uploads and rows of an experiment. */
export async function renewTables(id: string): Promise<void> {
  await Promise.all(
    [tablesQuery(id).queryKey, ['uploads', id], ['rows', id]].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}

interface Sending {
  chosen: Chosen;
  tell: (sent: Sent) => void;
  signal: AbortSignal;
  /** Names this sending, also where it begins again. */
  key: string;
}

/** Sends what is chosen. */
export const sendFiles = (id: string, { chosen, tell, signal, key }: Sending): Promise<UploadReport> =>
  uploadFiles(api, id, uploadFieldsOf(chosen), chosen.files, { signal, key, send: sendCounted(tell) });

/** Has the quarantined records read again. */
export const replayUpload = (id: string, uploadId: string): Promise<UploadReport> =>
  bodyOf(api.POST('/api/v1/experiments/{id}/data/uploads/{uploadId}/replay', { params: { path: { id, uploadId } } }));

/** Has the rows of an upload taken out of their table again. */
export const withdrawUpload = (id: string, uploadId: string): Promise<UploadReport> =>
  bodyOf(api.POST('/api/v1/experiments/{id}/data/uploads/{uploadId}/withdraw', { params: { path: { id, uploadId } } }));

export type ColumnPatch = BodyOf<'/api/v1/experiments/{id}/data/tables/{tableId}/columns/{name}', 'patch'>;
export type ColumnChange = AnswerTo<'/api/v1/experiments/{id}/data/tables/{tableId}/columns/{name}', 'patch'>;

interface ColumnNamed {
  id: string;
  tableId: string;
  name: string;
}

/** Asks for another name or type of a column. */
export const changeColumn = ({ id, tableId, name }: ColumnNamed, body: ColumnPatch): Promise<ColumnChange> =>
  bodyOf(api.PATCH('/api/v1/experiments/{id}/data/tables/{tableId}/columns/{name}', { params: { path: { id, tableId, name } }, body }));

/** A change of a column, asked for again and again until it has ended. */
export const columnChangeQuery = (id: string, tableId: string, changeId: string) =>
  queryOptions({
    queryKey: ['column-change', id, tableId, changeId],
    queryFn: async ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/experiments/{id}/data/tables/{tableId}/column-changes/{changeId}', {
          params: { path: { id, tableId, changeId } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || data.status === 'queued' || data.status === 'running' ? POLL_MS : false,
  });
