import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { spawnServer } from './process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Data folder of a service that has made its whole sample and was stopped; empty where Postgres keeps its cluster elsewhere. */
    sampleFolder: string;
  }
}

const LONGEST_MS = 300_000;

/** Makes the sample once for all files of tests that look at it: it takes 12 s of processor, and a service that finds it 3. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-sample-'));
  const server = await spawnServer({ DATA_DIR: folder, SAMPLE_DATA: 'on' });
  try {
    for (const end = Date.now() + LONGEST_MS; !/instruments are there/.test(server.output()); await sleep(200))
      if (Date.now() > end) throw new Error(`the sample was not made: ${server.output().slice(-2_000)}`);
  } finally {
    await server.kill('SIGTERM');
  }
  // run by root without user namespaces, a cluster lies elsewhere and belongs to another account
  project.provide('sampleFolder', existsSync(join(folder, 'postgres')) ? folder : '');
  return () => rmSync(folder, { recursive: true, force: true });
}
