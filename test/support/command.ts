import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Runs a command of the built program, as a person would, over a data folder and a database, or the Postgres in the folder. */
export async function runCommand(
  site: { url?: string; dataDir: string; environment?: Readonly<Record<string, string>> },
  ...args: string[]
): Promise<{ code: number; text: string; problem: string; json: any }> {
  const child = spawn(process.execPath, ['--no-experimental-webstorage', 'build/src/command.js', ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      DATA_DIR: site.dataDir,
      ...(site.url === undefined ? {} : { DATABASE_URL: site.url }),
      ...site.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let problem = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.once('close', (ended) => resolve(ended ?? -1)));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { code, text, problem, json };
}
