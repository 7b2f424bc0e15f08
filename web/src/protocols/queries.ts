import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf } from '../api.ts';
import { readExactly } from '../code/json.ts';
import type { Family } from '../library/kinds.ts';
import { renewLibrary, type Shared } from '../library/queries.ts';
import type { Version } from '../library/versions.tsx';

const PROTOCOL = '/api/v1/protocols/{id}';
const VERSION = '/api/v1/protocols/{id}/versions/{version}';

type Answered = AnswerTo<typeof PROTOCOL, 'get'>;
/** What is written in the editor. */
export interface Written {
  code: string;
  family: Family;
}
/** A protocol. Its code is indented JSON, whose numbers keep the digits that they were sent with. */
export type Protocol = Shared & Written & { codeVersion: number };
interface ProtocolChange {
  name?: string;
  description?: string | null;
  family?: Family;
  code?: string;
}

const byId = (id: string) => ({ params: { path: { id } } });
const printed = (code: unknown) => JSON.stringify(code, null, 2);

/** A protocol, and the tag of its version for a change. */
export const protocolQuery = (id: string) =>
  queryOptions({
    queryKey: ['protocols', id],
    queryFn: async ({ signal }): Promise<{ protocol: Protocol; tag: string }> => {
      const { data, response } = await api.GET(PROTOCOL, { ...byId(id), signal, parseAs: 'text' });
      const answered = readExactly(data ?? '') as Answered;
      // `readExactly` keeps every number as it was written, but the version is wanted as a plain number
      const codeVersion = Number(printed(answered.codeVersion));
      return { protocol: { ...answered, codeVersion, code: printed(answered.code) }, tag: response.headers.get('etag') ?? '*' };
    },
  });

/** The body as it is sent. Numbers in the code keep their digits. Errors: SyntaxError. */
const bodyFrom = ({ code, ...body }: ProtocolChange) =>
  ({ ...body, ...(code === undefined ? {} : { code: readExactly(code) }) }) as BodyOf<typeof PROTOCOL, 'patch'>;

/** Changes a protocol, unless somebody else did so since its tag was read. */
export async function changeProtocol(id: string, tag: string, change: ProtocolChange): Promise<{ codeVersion: number }> {
  const changed = await bodyOf(api.PATCH(PROTOCOL, { ...byId(id), headers: { 'if-match': tag }, body: bodyFrom(change) }));
  await renewLibrary('protocols', id);
  return changed;
}

/** Makes a protocol of one's own with the same code, and answers its id. */
export async function copyProtocol({ id, family, code }: Protocol, name: string): Promise<string> {
  const body = { name, family, forkedFrom: id, code: readExactly(code) as Answered['code'] };
  const made = await bodyOf(api.POST('/api/v1/protocols', { body }));
  await renewLibrary('protocols', made.id);
  return made.id;
}

/** Versions of a protocol, newest first. */
export const listVersions = (id: string, signal: AbortSignal): Promise<Version[]> =>
  everyOf((place) => api.GET('/api/v1/protocols/{id}/versions', { params: { path: { id }, query: place }, signal }));

/** What a protocol said at a version. */
export async function readVersion(id: string, version: number, signal: AbortSignal): Promise<Written> {
  const { data } = await api.GET(VERSION, { params: { path: { id, version } }, signal, parseAs: 'text' });
  const { code, family } = readExactly(data ?? '') as AnswerTo<typeof VERSION, 'get'>;
  return { code: printed(code), family };
}

/** Macros that read what the protocol measures. */
export const macrosQuery = (id: string) =>
  queryOptions({
    queryKey: ['protocols', id, 'macros'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/protocols/{id}/macros', { params: { path: { id }, query: place }, signal })),
  });

export async function linkMacro(id: string, macroId: string): Promise<void> {
  await api.POST('/api/v1/protocols/{id}/macros', { ...byId(id), body: { macroIds: [macroId] } });
  await Promise.all([renewLibrary('protocols', id), renewLibrary('macros', macroId)]);
}

export async function unlinkMacro(id: string, macroId: string): Promise<void> {
  await api.DELETE('/api/v1/protocols/{id}/macros/{macroId}', { params: { path: { id, macroId } } });
  await Promise.all([renewLibrary('protocols', id), renewLibrary('macros', macroId)]);
}
