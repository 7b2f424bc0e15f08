// Puts the exchanges of fixtures/contract/examples.json into the document.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from './example-check.ts';
import { valueOf, type Parameter } from './parameters.ts';

const examples = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/contract/examples.json'), 'utf8')) as Record<
  string,
  Example
>;

interface Described {
  schema: object;
  example?: unknown;
}
interface Operation {
  operationId: string;
  parameters?: (Parameter & { example?: unknown })[];
  requestBody?: { content: Record<string, Described> };
  responses: Record<string, { content?: Record<string, Described> }>;
}

/** Puts the example of an operation beside its parameters, its body and its answer. */
export function putExample(operation: Operation, schemas: Readonly<Record<string, { type?: unknown }>>): void {
  const example = examples[operation.operationId];
  if (!example) return;
  const { request, response } = example;
  for (const parameter of operation.parameters ?? []) {
    const text = (parameter.in === 'path' ? request.path : request.query)[parameter.name];
    if (text !== undefined) parameter.example = valueOf(parameter, schemas, text);
  }
  const [body] = Object.values(operation.requestBody?.content ?? {});
  if (body && request.body !== undefined) body.example = request.body;
  const answer =
    response.contentType === undefined ? undefined : operation.responses[String(response.status)]?.content?.[response.contentType];
  if (answer) answer.example = response.body;
}
