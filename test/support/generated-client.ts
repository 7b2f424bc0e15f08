/**
 * The schemas of answers as a client generator that is not ours (`@hey-api/openapi-ts`, with zod) writes them from the published document: a member
 * that may be absent is told apart from one that may be null, and a member that the document does not name is refused.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import { z } from 'zod';
import { placeKinds } from '../../src/contract/kinds.ts';
import { readJson } from '../../src/json.ts';
import { keepOnly } from './kept-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENT = join(ROOT, 'src', 'generated', 'openapi.json');
const CLIENTS = join(ROOT, 'build', 'clients');

/** Where the client of the document lies that this file generates. */
const folderOf = (document: string) => {
  const made = createHash('sha256')
    .update(document)
    .update(readFileSync(import.meta.filename));
  return join(CLIENTS, made.digest('hex').slice(0, 16));
};

interface Schema {
  properties?: object;
  additionalProperties?: unknown;
}

/** Objects with named and with any other members, as those with any: the generator would read them as those with named ones alone. */
function openMixed(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, additionalProperties } = schema as Schema;
  if (properties && typeof additionalProperties === 'object') delete (schema as Schema).properties;
  Object.values(schema).forEach(openMixed);
}

/** Generates the client of the published document, unless it is there; others are removed. */
export default async function generateClient(): Promise<void> {
  const text = readFileSync(DOCUMENT, 'utf8');
  const folder = folderOf(text);
  if (existsSync(folder)) return;
  const document = readJson(text) as Record<string, unknown> & { components: { schemas: Record<string, unknown> } };
  openMixed(document.components);
  const begun = `${folder}-${process.pid}`;
  await createClient({
    // its unions of named kinds are intersections, which strict objects have none of
    input: placeKinds(document, document.components.schemas),
    output: begun,
    logs: { level: 'silent' },
    plugins: ['@hey-api/typescript', { name: 'zod', requests: false }],
  });
  // the generator has no setting for it: its objects drop what they do not know
  const file = join(begun, 'zod.gen.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('z.object(', 'z.strictObject('));
  keepOnly(begun, folder);
}

let schemas: Promise<Record<string, unknown>> | undefined;
const load = () =>
  (schemas ??= import(pathToFileURL(join(folderOf(readFileSync(DOCUMENT, 'utf8')), 'zod.gen.ts')).href) as Promise<
    Record<string, unknown>
  >);

/** Why the generated client cannot read the answer to `operationId` (`listWorkbooks`); null when it can. */
export const complainOf = async (operationId: string, body: unknown): Promise<string | null> => {
  const name = `z${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Response`;
  const schema = (await load())[name];
  if (!(schema instanceof z.ZodType)) return `the generated client has no ${name}`;
  const { error } = schema.safeParse(body);
  return error ? z.prettifyError(error) : null;
};
