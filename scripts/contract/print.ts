// Makes the generated document stable and complete: keys in order, the errors that every operation can give, the version of package.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCE_TYPES } from '../../src/authorization/roles.ts';
import { describeMembers, describeParameters } from './described.ts';
import { inlineUnnamed, sortPaths } from './plain.ts';
import { putExample } from './put-examples.ts';
import { describeQuestions } from './questions.ts';
import { declareAnswers, sharedAnswers, type Operation as AnsweringOperation } from './responses.ts';
import { addNamePattern, addRules, makePreviewBody, makeShapedSchemas, makeUploadBody } from './shapes.ts';

const root = join(import.meta.dirname, '..', '..');
const file = join(root, 'src/generated/openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8'));
document.info.license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };
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
  // a reference may have others beside it now
  const { allOf, ...others } = rest;
  if (Array.isArray(allOf) && allOf.length === 1)
    return modernise({ ...(allOf[0] as Schema), ...others, ...(nullable === undefined ? {} : { nullable }) });
  // a member of that name is no keyword
  if (typeof nullable === 'object') return { ...rest, nullable };
  if (nullable !== true) return rest;
  if (rest.enum?.every((value) => value === null)) return { ...rest, type: 'null', enum: undefined };
  if (typeof rest.type === 'string')
    return { ...rest, type: [rest.type, 'null'], ...(rest.enum && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {}) };
  // what has neither a type nor a reference may be null already
  if (rest.$ref === undefined && rest['allOf'] === undefined && rest['anyOf'] === undefined) return rest;
  const { description, ...some } = rest;
  return { ...(description === undefined ? {} : { description }), anyOf: [some, { type: 'null' }] };
}

document.openapi = '3.1.0';
document.paths = modernise(document.paths);
document.components = modernise(document.components);
describeMembers(document.components.schemas);
Object.assign(document.components.schemas, makeShapedSchemas(document.components.schemas));
addRules(document.components.schemas);
addNamePattern(document.components.schemas);
describeQuestions(document);
const DATA = '/api/v1/experiments/{id}/data';
for (const type of ['text/csv', 'application/x-ndjson', 'application/vnd.apache.arrow.stream', 'application/vnd.apache.parquet'])
  document.paths[DATA].get.responses['200'].content[type] = { schema: { type: 'string' } };
document.paths[`${DATA}/exports/{exportId}`].get.responses['200'].content['application/json'].schema = {};
// each event's data; the method has nothing left to answer
document.paths['/api/v1/experiments/{id}/changes'].get.responses['200'].content['text/event-stream'].schema = {
  $ref: '#/components/schemas/AnyChange',
};
document.paths[`${DATA}/uploads`].post.requestBody = makeUploadBody();
document.paths[`${DATA}/uploads/preview`].post.requestBody = makePreviewBody();
document.components.schemas.Problem = {
  type: 'object',
  description: 'RFC 9457 problem document.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', description: 'A URI for the kind of problem; there is no page behind it.' },
    title: { type: 'string', description: 'The name of the status.' },
    status: { type: 'integer', description: 'The status of the answer.' },
    detail: { type: 'string', description: 'A sentence for a person.' },
    instance: { type: 'string', description: 'The request id.' },
    code: { type: 'string', description: 'Stable, in SCREAMING_SNAKE_CASE.' },
    message: { type: 'string', description: 'The same as `detail`, for the common authentication client: under /api/v1/auth alone.' },
    errors: {
      type: 'array',
      description: 'What is wrong, place by place, where the request itself is.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: {
            type: 'string',
            description: 'JSON Pointer into the body, `?name` of the query, `{name}` of the path, or the name of a header.',
          },
          message: { type: 'string', description: 'What must hold there.' },
        },
      },
    },
  },
};
/** Whether `{}` fits: a missing JSON body is read as `{}`. */
function takesNothing(schema: Schema): boolean {
  const { $ref, ...own } = schema;
  const found = $ref === undefined ? own : (document.components.schemas[$ref.split('/').at(-1)!] as Schema);
  return found.type === 'object' && ((found['required'] as string[] | undefined) ?? []).length === 0;
}

type Operation = AnsweringOperation & {
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
};

for (const [path, item] of Object.entries<Record<string, Operation>>(document.paths))
  for (const [method, operation] of Object.entries(item)) {
    if (operation.parameters) operation.parameters = describeParameters(path, operation.parameters);
    // src/http/callers/authentication.ts refuses an id in a path that is no UUID
    for (const { in: place, name, schema } of operation.parameters ?? [])
      if (place === 'path' && schema.type === 'string')
        if (/(^id|Id)$/.test(name)) schema['format'] = 'uuid';
        else if (name === 'resourceType') schema.enum = [...RESOURCE_TYPES];
    const json = operation.requestBody?.content['application/json'];
    if (operation.requestBody && json && takesNothing(json.schema)) operation.requestBody.required = false;
    declareAnswers(method, path, operation);
    putExample(operation, document.components.schemas);
  }
Object.assign(document.components, sharedAnswers);
/** Takes out the schemas that nothing names any more, and those that only they named. */
function removeUnnamed(): void {
  const text = JSON.stringify(document);
  const unnamed = Object.keys(document.components.schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`));
  for (const name of unnamed) Reflect.deleteProperty(document.components.schemas, name);
  if (unnamed.length > 0) removeUnnamed();
}

inlineUnnamed(document);
removeUnnamed();
sortPaths(document);
document.servers = [{ url: '/' }];
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
