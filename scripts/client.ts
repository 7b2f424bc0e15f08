import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'clients', 'typescript', 'generated');

/** Writes the types of every operation for the TypeScript client. */
const types = await openapiTS(pathToFileURL(join(ROOT, 'src', 'generated', 'openapi.json')));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'api.ts'), astToString(types));
