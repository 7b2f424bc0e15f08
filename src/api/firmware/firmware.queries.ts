import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { FirmwareRelease } from './firmware.model.ts';

export interface KeptReleases {
  etag: string | null;
  releases: FirmwareRelease[];
  ageSeconds: number;
  /** Whether GitHub is not asked again yet after a failure. */
  isResting: boolean;
}

export const findReleases = (db: Queryable, repository: string) =>
  db.one<KeptReleases>(sql('firmware.find')`
    select etag, releases, extract(epoch from now() - fetched_at)::float8 as "ageSeconds", retry_at > now() as "isResting"
    from firmware_releases where repository = ${repository}`);

export const putReleases = (db: Queryable, repository: string, etag: string | null, releases: readonly FirmwareRelease[]) =>
  db.run(sql('firmware.put')`
    insert into firmware_releases (repository, etag, releases, fetched_at) values (${repository}, ${etag}, ${JSON.stringify(releases)}, now())
    on conflict (repository) do update set etag = excluded.etag, releases = excluded.releases, fetched_at = excluded.fetched_at, retry_at = '-infinity'`);

export const touchReleases = (db: Queryable, repository: string) =>
  db.run(sql('firmware.touch')`update firmware_releases set fetched_at = now(), retry_at = '-infinity' where repository = ${repository}`);

export const restReleases = (db: Queryable, repository: string, seconds: number) =>
  db.run(sql('firmware.rest')`
    update firmware_releases set retry_at = now() + make_interval(secs => ${seconds}) where repository = ${repository}`);
