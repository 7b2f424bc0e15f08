import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quickstart } from '../../src/operator/sample/sample.service.ts';
import { launchChromium, openVisitor, type Size, type Visitor } from './chromium.ts';
import { startConsoleSite } from './console-site.ts';
import type { Call } from './server.ts';

/** Refusals that tests bring about, and the missing flow of an experiment. */
const EXPECTED = /status of (403|404|409|410|412|429)|ERR_INTERNET_DISCONNECTED/;

/** The built server with its sample, and Chromium beside it. */
export interface Console {
  baseUrl: string;
  lakeFolder: string;
  sample: Quickstart;
  /** Calls as the owner of the sample. */
  owner: Call;
  /** A browser of somebody at the sample's laboratory; the owner by the printed link, once, everybody else by a code. */
  visitAs(name: string, size?: Size): Promise<Visitor>;
  /** A second browser of the same person. */
  copyOf(visitor: Visitor, size: Size): Promise<Visitor>;
  stop(): Promise<void>;
}

export async function startConsole(environment: Record<string, string> = {}): Promise<Console> {
  const browser = await launchChromium();
  const site = await startConsoleSite(environment);
  const { baseUrl } = site.server;
  return {
    baseUrl,
    lakeFolder: join(site.dataDir, 'lake'),
    sample: JSON.parse(readFileSync(join(site.dataDir, 'quickstart.json'), 'utf8')) as Quickstart,
    owner: site.owner,
    visitAs: async (name, size = 'desk') => {
      const opened = await openVisitor(browser, size, EXPECTED);
      if (name === 'owner') await site.openAsOwner(opened.page);
      else await site.signIn(opened.page, `${name}@leaf-lab.example`);
      await opened.page.locator('main h1').first().waitFor();
      return opened;
    },
    copyOf: async (visitor, size) => {
      const opened = await openVisitor(browser, size, EXPECTED);
      await opened.context.addCookies(await visitor.context.cookies());
      return opened;
    },
    stop: async () => {
      await browser.close();
      await site.stop();
    },
  };
}

/** Takes a person's access to an experiment away. */
export async function removeAccess(owner: Call, experimentId: string, userId: string): Promise<void> {
  const path = `/api/v1/experiment/${experimentId}/collaborators`;
  const grants = (await owner('GET', path)).body as { id: string; granteeId?: string }[];
  const answer = await owner('DELETE', `${path}/${grants.find(({ granteeId }) => granteeId === userId)!.id}`);
  if (answer.status >= 300) throw new Error(answer.text);
}

/** Makes an experiment of the caller's own, or of an organization. Answers its id. */
export async function makeExperiment(owner: Call, name: string, organizationId?: string): Promise<string> {
  const answer = await owner('POST', '/api/v1/experiments', { body: { name, organizationId } });
  if (answer.status !== 201) throw new Error(answer.text);
  return String(answer.body.id);
}
