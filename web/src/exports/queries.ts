import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, queryClient } from '../api.ts';

const EXPORTS = '/api/v1/experiments/{id}/data/exports';
const EXPORT = '/api/v1/experiments/{id}/data/exports/{exportId}';
const STATUS = '/api/v1/experiments/{id}/data/exports/{exportId}/status';

const POLL_MS = 1_000;
export const PAGE_SIZE = 20;

export type NewExport = BodyOf<typeof EXPORTS, 'post'>;
export type ExportFormat = NewExport['format'];
export type ExportListed = AnswerTo<typeof EXPORTS, 'get'>['exports'][number];

/** Every kind of file, those that most people want first. */
export const FORMATS = ['csv', 'xlsx', 'parquet', 'arrow', 'ndjson', 'json'] as const satisfies ExportFormat[];

export const isRunning = ({ status }: Pick<ExportListed, 'status'>): boolean => status === 'queued' || status === 'running';

/** A page of a table's exports, newest first; asked for again while one of them is written. */
export const exportsQuery = (id: string, table: string, page: number) =>
  queryOptions({
    queryKey: ['exports', id, table, page],
    queryFn: async ({ signal }) => {
      const query = { tableName: table, page, pageSize: PAGE_SIZE };
      const { data, response } = await api.GET(EXPORTS, { params: { path: { id }, query }, signal });
      return { exports: data?.exports ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    refetchInterval: ({ state: { data } }) => (data?.exports.some(isRunning) === true ? 2 * POLL_MS : false),
  });

/** One export and how far it is, asked for again and again until it has ended. */
export const exportQuery = (id: string, exportId: string) =>
  queryOptions({
    queryKey: ['exports', id, 'status', exportId],
    queryFn: async ({ signal }) => bodyOf(api.GET(STATUS, { params: { path: { id, exportId } }, signal })),
    refetchInterval: ({ state: { data } }) => (data === undefined || isRunning(data) ? POLL_MS : false),
  });

const renew = (id: string): Promise<void> => queryClient.invalidateQueries({ queryKey: ['exports', id] });

/** Asks for a file and answers the export's id. */
export async function startExport(id: string, asked: NewExport): Promise<string> {
  const { exportId } = await bodyOf(api.POST(EXPORTS, { params: { path: { id } }, body: asked }));
  await renew(id);
  return exportId;
}

/** Cancels an export that is not finished, or deletes a finished one with its file. */
export async function removeExport(id: string, exportId: string): Promise<void> {
  await api.DELETE(EXPORT, { params: { path: { id, exportId } } });
  await renew(id);
}

/** Lets the browser download the file by itself. The first byte is asked for before, so that a refusal becomes a sentence on this page. */
export async function downloadExport({ experimentId: id, exportId, filePath, fileSize }: ExportListed): Promise<void> {
  const range = fileSize === null || fileSize === 0 ? {} : { headers: { range: 'bytes=0-0' } };
  await api.GET(EXPORT, { params: { path: { id, exportId } }, parseAs: 'blob', ...range });
  const link = document.createElement('a');
  link.href = filePath ?? '';
  link.download = '';
  link.click();
}
