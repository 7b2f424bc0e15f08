/** The landing folder: what the pipeline on Databricks picks up, as files of JSON lines in one folder a kind. */
import { access, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../errors.ts';

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes a file appear whole: readers of a folder pass over names that begin with a point. */
export async function put(folder: string, name: string, write: (path: string) => Promise<unknown>): Promise<void> {
  // what everybody has uploaded and measured is for its owner's eyes
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `.${name}`);
  await write(path);
  await rename(path, join(folder, name));
}

/** Names of the files of a folder that begin so, in order; none when the folder is not there. */
export async function namesIn(folder: string, beginning: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.startsWith(beginning) && name.endsWith('.json')).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A version of a table, so that names are in its order. */
export const numbered = (version: number): string => String(version).padStart(10, '0');

export const ofAnotherLake = (folder: string, experimentId: string): StartError =>
  new StartError(
    `${folder} has later versions of experiment ${experimentId} than there are here; name a folder that this lake has been landed in, or a new one.`,
  );
