import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { readPage } from '../../../clients/typescript/src/rows.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf } from '../api.ts';
import { isGiven } from '../experiments/columns.ts';
import type { MacroLanguage } from '../library/kinds.ts';
import { renewLibrary } from '../library/queries.ts';
import type { Version } from '../library/versions.tsx';
import { momentText } from '../shell/format.ts';
import { readSource } from './source.ts';

const MACRO = '/api/v1/macros/{id}';
const OFFERED_ROWS = 20;

export type Macro = AnswerTo<typeof MACRO, 'get'>;
/** What is written in the editor. */
export interface Written {
  code: string;
  language: MacroLanguage;
}
export type MacroChange = BodyOf<typeof MACRO, 'put'>;
export type RunResult = AnswerTo<'/api/v1/macros/{id}/execute', 'post'>;

const byId = (id: string) => ({ params: { path: { id } } });

/** A macro with its text, and the tag of its version for a change. */
export const macroQuery = (id: string) =>
  queryOptions({
    queryKey: ['macros', id],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET(MACRO, { ...byId(id), signal });
      if (data === undefined) throw new Error('The answer holds no macro.');
      return { macro: { ...data, code: readSource(data.code) }, tag: response.headers.get('etag') ?? '*' };
    },
  });

/** Changes a macro, unless somebody else did so since its tag was read. */
export async function changeMacro(id: string, tag: string, body: MacroChange): Promise<Macro> {
  const changed = await bodyOf(api.PUT(MACRO, { ...byId(id), headers: { 'if-match': tag }, body }));
  await renewLibrary('macros', id);
  return changed;
}

/** Makes a macro of one's own with the same text, and answers its id. */
export async function copyMacro({ id, language, code }: Macro, name: string): Promise<string> {
  const made = await bodyOf(api.POST('/api/v1/macros', { body: { name, language, code, forkedFrom: id } }));
  await renewLibrary('macros', made.id);
  return made.id;
}

/** Versions of a macro, newest first. */
export const listVersions = (id: string, signal: AbortSignal): Promise<Version[]> =>
  everyOf((place) => api.GET('/api/v1/macros/{id}/versions', { params: { path: { id }, query: place }, signal }));

/** What a macro said at a version. */
export async function readVersion(id: string, version: number, signal: AbortSignal): Promise<Written> {
  const { code, language } = await bodyOf(api.GET('/api/v1/macros/{id}/versions/{version}', { params: { path: { id, version } }, signal }));
  return { code: readSource(code), language };
}

/** Runs a macro over one measurement; `code` in the place of what is stored. */
export const runMacro = (id: string, body: { data: unknown; code?: string }): Promise<RunResult> =>
  bodyOf(api.POST('/api/v1/macros/{id}/execute', { ...byId(id), body }));

/** A measurement as a macro sees it. */
export interface Measurement {
  id: string;
  /** When it was taken, or else which one it is. */
  label: string;
  data: unknown;
}

/** The newest rows of a table as measurements. Of raw rows the macro sees `data`; of others the values by column. */
export const measurementsQuery = (experimentId: string, table: string, orderBy?: string) =>
  queryOptions({
    queryKey: ['measurements', experimentId, table],
    queryFn: async ({ signal }): Promise<Measurement[]> => {
      const { page } = await readPage(
        api,
        experimentId,
        { tableName: table, pageSize: OFFERED_ROWS, ...(orderBy === undefined ? {} : { orderBy, orderDirection: 'DESC' }) },
        { signal },
      );
      return page.data.rows.map((row, index) => {
        const moment = row['timestamp'] ?? row['measured_at'];
        return {
          id: String(row['id']),
          label: [
            `${index + 1}`,
            typeof moment === 'string' && !Number.isNaN(Date.parse(moment)) ? momentText(moment) : null,
            typeof row['device_name'] === 'string' ? row['device_name'] : null,
          ]
            .filter((part) => part !== null)
            .join(' · '),
          data: table === 'raw_data' ? row['data'] : Object.fromEntries(Object.entries(row).filter(([name]) => !isGiven(name))),
        };
      });
    },
    staleTime: 60_000,
  });

/** Protocols whose measurements the macro reads. */
export const protocolsQuery = (id: string) =>
  queryOptions({
    queryKey: ['macros', id, 'protocols'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/macros/{id}/protocols', { params: { path: { id }, query: place }, signal })),
  });

export async function linkProtocol(id: string, protocolId: string): Promise<void> {
  await api.POST('/api/v1/macros/{id}/protocols', { ...byId(id), body: { protocolIds: [protocolId] } });
  await renewLibrary('macros', id);
  await renewLibrary('protocols', protocolId);
}

export async function unlinkProtocol(id: string, protocolId: string): Promise<void> {
  await api.DELETE('/api/v1/macros/{id}/protocols/{protocolId}', { params: { path: { id, protocolId } } });
  await renewLibrary('macros', id);
  await renewLibrary('protocols', protocolId);
}
