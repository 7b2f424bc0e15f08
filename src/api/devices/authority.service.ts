import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open, seal } from '../../auth/seal.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { StartError } from '../../errors.ts';
import { makeAuthority, openAuthority, type Authority } from '../../iot/authority.ts';
import { findAuthority, keepAuthority } from './authority.queries.ts';

const WRONG_SECRET =
  'The certificate authority in Postgres was sealed with another secret: give this process the SECRET, or the file DATA_DIR/secret, of the process that made it.';

const readIfThere = (path: string) =>
  readFile(path, 'utf8').catch((cause: unknown) =>
    (cause as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Promise.reject(cause as Error),
  );

/**
 * Opens the certificate authority that all processes on one Postgres share. The first process makes it. `DATA_DIR/iot/ca.pem` is its certificate, for clients.
 * Older installations kept the authority in `DATA_DIR/iot/authority.pem`; such a file is taken over and then removed.
 */
export async function openSharedAuthority(db: Database, { secret, dataDir }: Pick<Config, 'secret' | 'dataDir'>): Promise<Authority> {
  const folder = join(dataDir, 'iot');
  const former = join(folder, 'authority.pem');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sealed =
    (await findAuthority(db)) ??
    (await keepAuthority(db, seal(secret, 'authority', { text: (await readIfThere(former)) ?? (await makeAuthority()) })));
  const opened = open(secret, 'authority', sealed) as { text: string } | undefined;
  if (opened === undefined) throw new StartError(WRONG_SECRET);
  const authority = await openAuthority(opened.text);
  const draft = join(folder, `ca.pem.${randomBytes(6).toString('hex')}`);
  await writeFile(draft, `${authority.certificatePem}\n`, { mode: 0o644 });
  await rename(draft, join(folder, 'ca.pem'));
  if ((await readIfThere(former)) === opened.text) await rm(former);
  return authority;
}
