import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../src/contract/operations.ts';

const FILE = join(import.meta.dirname, '..', '..', 'build', 'operations-seen.ndjson');
const seen = new Set<string>();

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
}

/** Why a value does not fit a schema; undefined when it does. Unknown members are a misfit too: the document must name every field. */
function misfit(value: unknown, schema: Schema, document: OpenApiDocument, path: string): string | undefined {
  if (schema.$ref !== undefined) {
    const named = (document as unknown as { components: { schemas: Record<string, Schema> } }).components.schemas[
      schema.$ref.split('/').pop() ?? ''
    ];
    if (!named) return `${path}: no schema ${schema.$ref}`;
    return misfit(value, named, document, path);
  }
  if (value === null)
    return [schema.type ?? 'null'].flat().includes('null') || schema.anyOf?.some(({ type }) => type === 'null') === true
      ? undefined
      : `${path}: null`;
  if (schema.allOf) {
    if (schema.allOf.length === 1) return misfit(value, schema.allOf[0]!, document, path);
    return undefined;
  }
  if (schema.anyOf)
    return schema.anyOf.some((option) => misfit(value, option, document, path) === undefined)
      ? undefined
      : `${path}: no member of the union`;
  if (schema.enum && !schema.enum.includes(value)) return `${path}: not in the enumeration`;
  switch ([schema.type].flat().find((type) => type !== 'null')) {
    case 'array':
      if (!Array.isArray(value)) return `${path}: not an array`;
      return value
        .map((item, index) => misfit(item, schema.items ?? {}, document, `${path}[${index}]`))
        .find((reason) => reason !== undefined);
    case 'object': {
      if (typeof value !== 'object' || Array.isArray(value)) return `${path}: not an object`;
      const given = value as Record<string, unknown>;
      const missing = (schema.required ?? []).find((name) => !(name in given));
      if (missing !== undefined) return `${path}.${missing}: missing`;
      for (const [name, member] of Object.entries(given)) {
        const known = schema.properties?.[name];
        if (known) {
          const reason = misfit(member, known, document, `${path}.${name}`);
          if (reason !== undefined) return reason;
        } else if (schema.properties && (schema.additionalProperties === false || schema.additionalProperties === undefined))
          return `${path}.${name}: not in the document`;
        else if (typeof schema.additionalProperties === 'object') {
          const reason = misfit(member, schema.additionalProperties, document, `${path}.${name}`);
          if (reason !== undefined) return reason;
        }
      }
      return undefined;
    }
    case 'string':
      return typeof value === 'string' ? undefined : `${path}: not a string`;
    case 'number':
    case 'integer':
      return typeof value === 'number' ? undefined : `${path}: not a number`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${path}: not a boolean`;
    default:
      return undefined;
  }
}

/** Notes every operation that succeeded: 2xx with a body that fits the published schema, or a redirect that the document names. A body that does not fit fails the test. */
export function recordOperation(document: OpenApiDocument, method: string, path: string, status: number, body: unknown): void {
  if (status < 200 || status > 399 || status === 304) return;
  const bare = path.split('?')[0] ?? path;
  const matches = Object.entries(document.paths).filter(
    ([template, item]) => method.toLowerCase() in item && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
  );
  // the most literal template is the one that was served
  const [template, item] = matches.sort(([a], [b]) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0))[0] ?? [];
  if (template === undefined || item === undefined) return;
  const operation = item[method.toLowerCase()] as unknown as {
    responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
  };
  if (status > 299 && !(status in operation.responses)) return;
  const schema = operation.responses[String(status)]?.content?.['application/json']?.schema;
  if (schema && body !== undefined && body !== null) {
    const reason = misfit(body, schema, document, 'body');
    if (reason !== undefined)
      throw new Error(`${method} ${template} answered ${status} with a body that is not in the document: ${reason}`);
  }
  const line = `${method} ${template}`;
  if (seen.has(line)) return;
  seen.add(line);
  mkdirSync(join(FILE, '..'), { recursive: true });
  appendFileSync(FILE, `${line}\n`);
}
