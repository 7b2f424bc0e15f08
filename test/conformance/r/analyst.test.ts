/** A script of an analyst in R, who uses httr2, jsonlite and data.table. Needs R and these packages of Debian. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../../support/built-site.ts';

const run = promisify(execFile);
let site: BuiltSite;
beforeAll(async () => {
  await run('Rscript', ['-e', 'library(httr2); library(jsonlite); library(data.table); library(bit64)']).catch((cause: unknown) => {
    throw new Error('R is needed: apt install r-base-core r-cran-httr2 r-cran-jsonlite r-cran-data.table r-cran-bit64', { cause });
  });
  site = await startBuiltSite();
});
afterAll(() => site.stop());

test('what an R script sends, reads, filters, sums up and pages through is what R computes itself', async () => {
  const body = { name: 'R', organizationId: site.cast.leafLab };
  const { id } = (await site.owner('POST', '/api/v1/experiments', { body })).body as { id: string };
  const seed = process.env.FC_SEED ?? String(Date.now() % 1_000_000);
  const script = join(import.meta.dirname, 'analyst.R');
  const { stdout } = await run('Rscript', [script, site.server.baseUrl, site.cast.owner.apiKey, id, seed], {
    env: { ...process.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
  }).catch((cause: unknown) => {
    throw new Error(`seed ${seed}: ${(cause as { stderr: string }).stderr}`);
  });
  expect(stdout).toBe('done\n');
});
