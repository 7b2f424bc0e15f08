// Makes the generated document stable and complete: keys in order, the errors that every operation can give, the version of package.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const file = join(root, 'src/generated/openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8'));
document.info.version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  nullable?: boolean;
  enum?: unknown[];
}

/** A schema of OpenAPI 3.0 as JSON Schema 2020-12, which OpenAPI 3.1 takes: `nullable` becomes a type. */
function modernise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(modernise);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, modernise(value)])) as Schema;
  if (nullable !== true) return rest;
  if (typeof rest.type === 'string')
    return { ...rest, type: [rest.type, 'null'], ...(rest.enum && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {}) };
  // what has neither a type nor a reference may be null already
  return rest.$ref === undefined && rest['allOf'] === undefined && rest['anyOf'] === undefined ? rest : { anyOf: [rest, { type: 'null' }] };
}

document.openapi = '3.1.0';
document.paths = modernise(document.paths);
document.components = modernise(document.components);
document.components.schemas.Problem = {
  type: 'object',
  description: 'RFC 9457 problem document.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'A sentence for a person.' },
    instance: { type: 'string', description: 'The request id.' },
    code: { type: 'string', description: 'Stable, in SCREAMING_SNAKE_CASE.' },
    errors: {
      type: 'array',
      items: { type: 'object', required: ['path', 'message'], properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
};
for (const item of Object.values<Record<string, { responses: Record<string, unknown> }>>(document.paths))
  for (const operation of Object.values(item))
    operation.responses['default'] = {
      description: 'A problem',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    };
document.servers = [{ url: '/' }];
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
