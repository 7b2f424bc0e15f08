import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inject, vi } from 'vitest';
import { lettersTo, nextCode } from './outbox.ts';
import { spawnServer, type ServerProcess } from './process.ts';
import { callsTo, type Call } from './server.ts';

/** The built server with its sample, as people meet it in a browser. */
export interface ConsoleSite {
  server: ServerProcess;
  dataDir: string;
  experimentId: string;
  organizationId: string;
  /** Calls as the owner of the sample. */
  owner: Call;
  /** Signs the owner in by the printed link, which works once. */
  openAsOwner(page: Page): Promise<void>;
  /** Signs a person in by the code that is sent to their address; a new address gets an account. */
  signIn(page: Page, address: string): Promise<void>;
  stop(): Promise<void>;
}

/** Signs a person in by the code that is sent to their address; a new address gets an account. */
export async function signInByCode(page: Page, { baseUrl, dataDir }: { baseUrl: string; dataDir: string }, address: string): Promise<void> {
  await page.goto(`${baseUrl}/sign-in`);
  const had = lettersTo({ dataDir }, address).length;
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByLabel(/Six digits/).fill(await nextCode({ dataDir }, address, had));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${baseUrl}/`);
}

/** Starts one over a copy of the sample. `environment` adds settings. */
export async function startConsoleSite(environment: Record<string, string> = {}): Promise<ConsoleSite> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-console-'));
  const made = inject('sampleFolder');
  if (made !== '') cpSync(made, dataDir, { recursive: true });
  const server = await spawnServer({ DATA_DIR: dataDir, SAMPLE_DATA: 'on', SIGN_INS_PER_MINUTE: '100', ...environment });
  await vi.waitUntil(() => /Try these/.test(server.output()), { timeout: 120_000 });
  const quickstart = JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as Record<string, string>;
  return {
    server,
    dataDir,
    experimentId: quickstart['experimentId']!,
    organizationId: quickstart['organizationId']!,
    owner: callsTo(server.baseUrl)(quickstart['apiKey']!),
    openAsOwner: async (page) => {
      await page.goto(/http:\S+\/sign-in\/link#[\w-]{43}/.exec(server.output())![0]);
      // the page of the link has a heading too, while it signs in
      await page.waitForURL(({ pathname }) => !pathname.startsWith('/sign-in'));
      await page.getByRole('heading', { name: 'Maize under drought' }).waitFor();
    },
    signIn: (page, address) => signInByCode(page, { baseUrl: server.baseUrl, dataDir }, address),
    stop: async () => {
      await server.kill('SIGTERM');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
