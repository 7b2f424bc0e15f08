// Whether an example is what the document says of its operation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { placeKinds } from '../../src/contract/kinds.ts';
import { valueOf, type Parameter } from './parameters.ts';

/** One exchange of an operation that was really made. */
export interface Example {
  request: {
    path: Record<string, string>;
    query: Record<string, string>;
    /** JSON, or the fields of a form. */
    body?: unknown;
  };
  response: { status: number; contentType?: string; body?: unknown };
}

type Content = Record<string, { schema: object }>;
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { type?: string }> };
};
const ajv = new Ajv2020({ strict: false, discriminator: true, allErrors: true, validateSchema: false, logger: false });
formats.default(ajv);
ajv.addSchema(placeKinds(document, document.components.schemas), 'document');

const operations = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [operation.operationId, { place: ['paths', path, method], operation }]),
  ),
);

/** What a value breaks of the schema at a place of the document. */
function complaintOf(place: readonly (string | number)[], value: unknown): string | null {
  const pointer = place.map((token) => `/${encodeURIComponent(String(token).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
  return ajv.validate({ $ref: `document#${pointer}` }, value)
    ? null
    : `${place.slice(3).join(' ')}: ${ajv.errorsText(ajv.errors, { dataVar: '' })}`;
}

/** Why an example is not one of its operation; null when it is. */
export function checkExample(operationId: string, { request, response }: Example): string | null {
  const { place, operation } = operations.get(operationId) ?? {};
  if (!place || !operation) return 'there is no such operation';
  for (const [index, parameter] of (operation.parameters ?? []).entries()) {
    const text = (parameter.in === 'path' ? request.path : request.query)[parameter.name];
    if (text === undefined && parameter.required === true && parameter.in !== 'header') return `${parameter.name} is missing`;
    const complaint =
      text === undefined
        ? null
        : complaintOf([...place, 'parameters', index, 'schema'], valueOf(parameter, document.components.schemas, text));
    if (complaint !== null) return complaint;
  }
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  const isSent = type !== undefined && request.body !== undefined;
  const complaint = isSent ? complaintOf([...place, 'requestBody', 'content', type, 'schema'], request.body) : null;
  if (complaint !== null) return complaint;
  const { status, contentType, body } = response;
  const answer = operation.responses[String(status)];
  if (!answer) return `${status} is not declared`;
  if (contentType === undefined) return null;
  if (!answer.content?.[contentType]) return `${contentType} is not declared for ${status}`;
  return contentType === 'application/json' ? complaintOf([...place, 'responses', status, 'content', contentType, 'schema'], body) : null;
}
