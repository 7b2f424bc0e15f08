import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { complainOf } from './generated-client.ts';

const FILE = join(import.meta.dirname, '..', '..', 'build', 'operations-seen.ndjson');
const seen = new Set<string>();

/**
 * Notes every operation that succeeded: 2xx with a body that a strict generated client reads, or a redirect that the document names. A body that it
 * cannot read fails the test.
 */
export async function recordOperation(
  document: OpenApiDocument,
  method: string,
  path: string,
  status: number,
  body: unknown,
): Promise<void> {
  if (status < 200 || status > 399 || status === 304) return;
  const bare = path.split('?')[0] ?? path;
  const matches = Object.entries(document.paths).filter(
    ([template, item]) => method.toLowerCase() in item && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
  );
  // the most literal template is the one that was served
  const [template, item] = matches.sort(([a], [b]) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0))[0] ?? [];
  const operation = item?.[method.toLowerCase()] as
    { operationId: string; responses: Record<string, { content?: Record<string, { schema: object }> }> } | undefined;
  if (template === undefined || operation === undefined) return;
  if (status > 299 && !(status in operation.responses)) return;
  const { schema = {} } = operation.responses[String(status)]?.content?.['application/json'] ?? {};
  if (body !== undefined && Object.keys(schema).length > 0) {
    const complaint = await complainOf(operation.operationId, body);
    if (complaint !== null)
      throw new Error(`${method} ${template} answered ${status} with a body that is not in the document: ${complaint}`);
  }
  const line = `${method} ${template}`;
  if (seen.has(line)) return;
  seen.add(line);
  mkdirSync(join(FILE, '..'), { recursive: true });
  appendFileSync(FILE, `${line}\n`);
}
