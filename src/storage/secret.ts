import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../errors.ts';
import { refuseDataFolder } from './private.ts';

const BYTES = 32;
const WHOLE = /^[0-9a-f]{64,}$/i;
const TRIES = 50;
const PAUSE_MS = 20;

/** Holds this thread up: settings are read before anything else runs. */
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);

/**
 * Reads the secret. It is given as 64 hexadecimal digits, or else kept in the data folder: 32 random bytes, made once, readable by its owner alone. A file
 * that holds anything else is waited for, since another process may be writing it. Errors: StartError when it stays so for a second.
 */
export function readSecret(dataDir: string, given?: string): Buffer {
  if (given !== undefined) return Buffer.from(given, 'hex');
  const file = join(dataDir, 'secret');
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return waitForSecret(file);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw refuseDataFolder(dataDir, error);
  }
}

/** Reads the file of the secret, and makes it where there is none. */
function waitForSecret(file: string): Buffer {
  try {
    writeFileSync(file, randomBytes(BYTES).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const text = readFileSync(file, 'utf8').trim();
    if (WHOLE.test(text)) return Buffer.from(text, 'hex');
    pause();
  }
  throw new StartError(
    `${file} does not hold ${2 * BYTES} hexadecimal digits: put the secret back; docs/operations.md says under "Secrets" what a new one ends.`,
  );
}
