import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { spawnServer, type ServerProcess } from './process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Data folder of a service that has made its whole sample and was stopped; empty where Postgres keeps its cluster elsewhere. */
    sampleFolder: string;
  }
}

const LONGEST_MS = 300_000;
const LOOK_MS = 2_000;
/** A service without work takes 0.005 s of processor a second. */
const AT_REST_SECONDS = 0.1;

async function readProcessorSeconds({ adminUrl }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)![1]);
}

/** Waits while the service works: its macro is run over the whole season after all of it is there. */
async function waitForRest(server: ServerProcess): Promise<void> {
  const end = Date.now() + LONGEST_MS;
  for (let before = await readProcessorSeconds(server); ;) {
    await sleep(LOOK_MS);
    const spent = await readProcessorSeconds(server);
    if (spent - before < AT_REST_SECONDS) return;
    if (Date.now() > end) throw new Error(`the sample keeps the service at work: ${server.output().slice(-2_000)}`);
    before = spent;
  }
}

/** Makes the sample once for all files of tests that look at it: it takes 35 s of processor, and a service that finds it 3. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-sample-'));
  const server = await spawnServer({ DATA_DIR: folder, SAMPLE_DATA: 'on', MACRO_LANGUAGES: 'javascript' });
  try {
    for (const end = Date.now() + LONGEST_MS; !/instruments are there/.test(server.output()); await sleep(200))
      if (Date.now() > end) throw new Error(`the sample was not made: ${server.output().slice(-2_000)}`);
    await waitForRest(server);
  } finally {
    await server.kill('SIGTERM');
  }
  // run by root without user namespaces, a cluster lies elsewhere and belongs to another account
  project.provide('sampleFolder', existsSync(join(folder, 'postgres')) ? folder : '');
  return () => rmSync(folder, { recursive: true, force: true });
}
