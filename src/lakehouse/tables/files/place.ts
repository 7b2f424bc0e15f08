/** Notes in the database where its lake lies, once, so that no process looks for the lake elsewhere. */
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Database } from '../../../database/database.ts';
import { ApiError, StartError } from '../../../errors.ts';
import { printObjectKey, type ObjectStore } from '../../../storage/objects.ts';
import { isHintKey, isLogKey } from '../delta/places.ts';
import { addPlace, findNoted } from './files.queries.ts';
import type { LakePlace } from './lake-settings.ts';

export { setPlace } from './files.queries.ts';

const NAMED = { folder: 'the folder lake in DATA_DIR' } as Readonly<Record<string, string>>;
const say = (place: LakePlace) => NAMED[place] ?? place;

/** Finds the noted place of the lake, or `wanted` if none is noted yet. */
export const findPlace = async (db: Database, wanted: LakePlace): Promise<LakePlace> => (await findNoted(db))?.place ?? wanted;

/** Refuses a place that differs from the noted one. Errors: StartError. */
export async function requirePlace(db: Database, wanted: LakePlace): Promise<void> {
  const noted = await findPlace(db, wanted);
  if (noted === wanted) return;
  const other = noted === 'folder' ? 'set LAKE=folder' : `set S3_BUCKET=${noted.slice('s3://'.length)} without LAKE=folder`;
  throw new StartError(
    `The lake of this database lies in ${say(noted)}, and the settings name ${say(wanted)}: stop every process and run npm run lake -- migrate to move it, or ${other} to leave it there.`,
  );
}

/** The key of the object that holds the id of a lake, by which it is told from one in another folder of the same name. */
export const ID_KEY = printObjectKey('id');

const readId = async (store: ObjectStore): Promise<string | null> =>
  (await store.head(ID_KEY)) ? (await buffer(await store.get(ID_KEY))).toString() : null;

/** Refuses a store that does not hold the lake of this database, once that has an id. Errors: StartError. */
export async function requireLake(db: Database, place: LakePlace, store: ObjectStore): Promise<void> {
  const id = (await findNoted(db))?.id ?? null;
  if (id === null || id === (await readId(store))) return;
  throw new StartError(
    `What lies in ${say(place)} is not the lake of this database: DATA_DIR, or S3_ENDPOINT, leads elsewhere than in the process that ran before. docs/operations.md says what to do where that lake is lost.`,
  );
}

/** Finds a table or an upload that is kept there. Errors: StartError where a store cannot be listed. */
async function findKept(lake: ObjectStore, objects: ObjectStore): Promise<string | undefined> {
  try {
    for (const kept of [lake.list('tables/'), objects.list('uploads/')]) for await (const { key } of kept) return key;
    return undefined;
  } catch (error) {
    throw new StartError(`The bucket cannot be listed: ${explain(error)}.`, { cause: error });
  }
}

/** Refuses stores that hold tables or uploads: sweeps would remove what a new database does not know. Errors: StartError. */
async function requireNew(lake: ObjectStore, objects: ObjectStore): Promise<void> {
  const key = await findKept(lake, objects);
  if (key !== undefined)
    throw new StartError(
      `${key} is another database's, whose files this new one would sweep away: give this process the DATABASE_URL of that one, or an empty DATA_DIR or bucket.`,
    );
}

/** Notes a place that was proven, and the id of its lake, for good. Errors: StartError where the lake or the objects there are another database's. */
export async function keepPlace(
  db: Database,
  wanted: LakePlace,
  { lake, objects }: Record<'lake' | 'objects', ObjectStore>,
): Promise<void> {
  const noted = await findNoted(db);
  if (!noted) await requireNew(lake, objects);
  if (!noted?.id) await lake.create(ID_KEY, Buffer.from(randomUUID()));
  await addPlace(db, wanted, await readId(lake));
  await requirePlace(db, wanted);
  await requireLake(db, wanted, lake);
}

/** Says what an error is of; that of a store that is away has what the server said as its cause. */
function explain(error: unknown): string {
  const inner = error instanceof ApiError ? (error.details.cause ?? error) : error;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : String(inner);
}

/** Proves that a bucket never writes over an object when told not to. The logs of tables rely on this. Errors: StartError. */
export async function requireConditionalPuts(store: ObjectStore): Promise<void> {
  const key = printObjectKey('conditional-puts', randomUUID());
  const twice = async () => {
    await store.create(key, Buffer.from('1'));
    const isRefused = !(await store.create(key, Buffer.from('2')));
    await store.delete(key);
    return isRefused;
  };
  const isRefused = await twice().catch((error: unknown) => {
    throw new StartError(`The bucket of the lake cannot be written: ${explain(error)}.`, { cause: error });
  });
  if (!isRefused)
    throw new StartError(
      'The bucket writes over an object in spite of If-None-Match: *, so that the log of a table would not be safe in it: use another S3-compatible server, or set LAKE=folder.',
    );
}

/** Copies the files and logs that `to` lacks, and answers how many objects. Logs go after files, so that no version is seen before its files. */
export async function copyLake(from: ObjectStore, to: ObjectStore): Promise<number> {
  const there = new Set<string>();
  for await (const { key } of to.list('tables/')) there.add(key);
  const steps: string[][] = [[], [], []];
  for await (const { key } of from.list('tables/')) steps[isHintKey(key) ? 2 : isLogKey(key) ? 1 : 0]?.push(key);
  let copied = 0;
  for (const key of steps.flatMap((keys) => keys.sort())) {
    if (isHintKey(key)) await to.replace(key, await buffer(await from.get(key)));
    else if (there.has(key)) continue;
    else {
      const facts = await from.head(key);
      if (!facts) continue;
      await to.put(key, await from.get(key), { contentLength: facts.byteCount });
    }
    copied += 1;
  }
  return copied;
}
