import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import type { FirmwareFamily, FirmwareReleases } from './firmware.model.ts';
import { findReleases, putReleases, restReleases, touchReleases } from './firmware.queries.ts';
import { readReleases } from './releases.ts';

const FRESH_SECONDS = 15 * 60;
const REST_SECONDS = 60;
const ASK_MS = 10_000;

/**
 * Loads the releases of a family. While they are fresh they come from Postgres. Otherwise GitHub is asked with their entity tag. While GitHub cannot be
 * reached, the stored releases stay the answer. Errors: firmwareUnavailable, when no repository is configured or nothing was ever read.
 */
export async function loadReleases(ctx: Context, family: FirmwareFamily): Promise<FirmwareReleases> {
  const { apiUrl, token, repositories } = ctx.config.firmware;
  const repository = repositories[family];
  if (repository === undefined) throw errors.firmwareUnavailable();
  const kept = await findReleases(ctx.db, repository);
  if (kept && (kept.ageSeconds < FRESH_SECONDS || kept.isResting)) return { releases: kept.releases };
  try {
    const answer = await fetch(`${apiUrl}/repos/${repository}/releases?per_page=100`, {
      headers: {
        accept: 'application/vnd.github.full+json',
        'x-github-api-version': '2022-11-28',
        'user-agent': 'fieldlake',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(kept?.etag ? { 'if-none-match': kept.etag } : {}),
      },
      signal: AbortSignal.timeout(ASK_MS),
    });
    if (answer.status === 304 && kept) {
      await touchReleases(ctx.db, repository);
      return { releases: kept.releases };
    }
    if (!answer.ok) throw new Error(`GitHub answered ${answer.status} for ${repository}`);
    const releases = readReleases(await answer.json());
    await putReleases(ctx.db, repository, answer.headers.get('etag'), releases);
    return { releases };
  } catch (error) {
    ctx.log.warn({ err: error, repository }, 'firmware releases could not be read');
    if (!kept) throw errors.firmwareUnavailable();
    await restReleases(ctx.db, repository, REST_SECONDS);
    return { releases: kept.releases };
  }
}
