import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../src/json.ts';
import { noteExample, type Exchange } from './examples-seen.ts';
import { complainOf } from './generated-client.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILD = join(ROOT, 'build');
const seen = new Set<string>();

interface DocumentedResponse {
  $ref?: string;
  content?: Record<string, { schema: object }>;
  'x-codes'?: string[];
}
interface DocumentedOperation {
  operationId: string;
  responses: Record<string, DocumentedResponse>;
}
const document = readJson(readFileSync(join(ROOT, 'src/generated/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { responses: Record<string, DocumentedResponse> };
};

/** Refusals of what never came to an operation. */
const BEFORE = ['HOST_INVALID', 'NOT_HTTP', 'REQUEST_TOO_SLOW', 'HEADERS_TOO_LARGE', 'METHOD_NOT_ALLOWED', 'ROUTE_NOT_FOUND'];

/** The operation that a request was served by, with its path's template. */
export function findOperation(method: string, path: string): [string, DocumentedOperation] | undefined {
  const bare = path.split('?')[0] ?? path;
  const matches = Object.entries(document.paths).filter(
    ([template, item]) => method.toLowerCase() in item && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
  );
  // the most literal template is the one that was served
  const [template, item] = matches.sort(([a], [b]) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0))[0] ?? [];
  const operation = item?.[method.toLowerCase()];
  return template === undefined || operation === undefined ? undefined : [template, operation];
}

/** Writes a line into a file of `build`, once a process. */
export function noteSeen(file: string, line: string): void {
  if (seen.has(`${file} ${line}`)) return;
  seen.add(`${file} ${line}`);
  mkdirSync(BUILD, { recursive: true });
  appendFileSync(join(BUILD, file), `${line}\n`);
}

/** Whether an answer is among those that the document declares of its operation, by its status and code. */
function requireDeclared(template: string, { responses }: DocumentedOperation, { method, status, text }: Exchange): void {
  const { code = '' } = readJson(text) as { code?: string };
  if (BEFORE.includes(code)) return;
  const response = responses[String(status)];
  const { 'x-codes': codes = [] } =
    (response?.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)!]) ?? {};
  if (!codes.includes(code))
    throw new Error(
      `${method} ${template} answered ${status} ${code}, which the document does not declare: run \`npm run answers\`, or say it in scripts/contract/responses.ts`,
    );
  noteSeen('refusals-seen.ndjson', `${method} ${template} ${status} ${code}`);
}

/**
 * Notes every operation that succeeded: 2xx with a body that a strict generated client reads, or a redirect that the document names. A body that it
 * cannot read fails the test, and so does a refusal that the document does not declare.
 */
export async function recordExchange(exchange: Exchange): Promise<void> {
  const { method, path, status, contentType, text } = exchange;
  if (status < 200 || status === 304) return;
  const [template, operation] = findOperation(method, path) ?? [];
  if (template === undefined || operation === undefined) return;
  if (status > 399) {
    if (contentType.startsWith('application/problem+json')) requireDeclared(template, operation, exchange);
    return;
  }
  if (status > 299 && !(status in operation.responses)) return;
  const { schema = {} } = operation.responses[String(status)]?.content?.['application/json'] ?? {};
  if (contentType.startsWith('application/json') && text !== '' && Object.keys(schema).length > 0) {
    const complaint = await complainOf(operation.operationId, readJson(text));
    if (complaint !== null)
      throw new Error(`${method} ${template} answered ${status} with a body that is not in the document: ${complaint}`);
  }
  noteSeen('operations-seen.ndjson', `${method} ${template}`);
  noteExample(operation.operationId, template, exchange);
}
