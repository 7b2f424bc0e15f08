import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endIdentityChange, releaseIdentityChange } from '../../src/api/data/identity.queries.ts';
import { refreshChangedIdentities, refreshIdentity } from '../../src/api/data/identity.service.ts';
import { eraseNamedExports } from '../../src/api/exports/writing.service.ts';
import { sql } from '../../src/database/sql.ts';
import { replaceIdentity } from '../../src/ingest/dimensions.ts';
import { signIn } from '../support/browser.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { loseCommits } from '../support/lost-commits.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

/** An experiment of the owner to which a person has added rows and an annotation. */
async function contributedBy(person: Person, name: string) {
  const owner = site.as(site.cast.owner);
  const id = String((await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } })).body.id);
  await grant(site.db, { id, type: 'experiment' }, { user: person.id }, 'admin');
  const tableName = await uploadTable(site.as(person), id, 'plots', 'plot,spad\n1,41.5\n2,38\n');
  const path = `/api/v1/experiments/${id}/data`;
  const read = async () =>
    (await owner('GET', path, { query: { tableName, columns: 'id,plot,contributor,annotations', orderBy: 'plot' } })).body[0].data.rows;
  const annotation = { type: 'comment', content: { type: 'comment', text: 'seen' } };
  const made = await site.as(person)('POST', `${path}/annotations`, { body: { tableName, rowId: (await read())[0].id, annotation } });
  expect(made.status).toBe(201);
  return { id, read, etag: async () => (await owner('GET', path, { query: { tableName } })).headers.get('etag') };
}

const shown = async (read: () => Promise<any[]>) => {
  const [row] = await read();
  return { contributor: row.contributor, by: row.annotations[0].createdByName };
};

/** Reads until the answer is as expected; the last answer otherwise. */
async function settled(read: () => Promise<unknown>, expected: object) {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await read();
    try {
      expect(answer).toEqual(expected);
      return answer;
    } catch {
      await sleep(100);
    }
  }
  return read();
}

const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);

/** The path of a finished export of an experiment's rows as CSV. */
async function exported(id: string): Promise<string> {
  const exports = `/api/v1/experiments/${id}/data/exports`;
  const made = await owner('POST', exports, { body: { tableName: 'plots', format: 'csv' } });
  const path = `${exports}/${(made.body as { exportId: string }).exportId}`;
  await expect.poll(async () => (await owner('GET', `${path}/status`)).body.status).toBe('completed');
  return path;
}

/** Every file of the lake that holds these bytes. */
async function filesHolding(text: string): Promise<string[]> {
  const { lakeFolder } = site;
  const names = await readdir(lakeFolder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  // a temporary file may be gone before it is read
  const bytesOf = async (file: string) =>
    readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  for (const entry of names)
    if (entry.isFile() && (await bytesOf(join(entry.parentPath, entry.name)))?.includes(text)) found.push(entry.name);
  return found;
}

test('a changed name and picture are shown with the rows a moment later, and a hidden profile is not until its person signs in', async () => {
  const ines = await makePerson(site.db, 'ines');
  const [one, two] = [await contributedBy(ines, 'One'), await contributedBy(ines, 'Two')];
  const old = { contributor: { id: ines.id, name: 'Ines Tester', avatar: null }, by: 'Ines Tester' };
  expect([await shown(one.read), await shown(two.read)]).toEqual([old, old]);
  const tag = await one.etag();
  const profile = { firstName: 'Inès', lastName: 'Field', avatarUrl: 'https://example.com/i.png' };
  expect((await site.as(ines)('POST', '/api/v1/users/profile', { body: profile })).status).toBe(201);
  const renamed = { contributor: { id: ines.id, name: 'Inès Field', avatar: profile.avatarUrl }, by: 'Inès Field' };
  for (const { read } of [one, two]) expect(await settled(() => shown(read), renamed)).toEqual(renamed);
  expect(await one.etag()).not.toBe(tag);
  expect((await site.as(ines)('POST', '/api/v1/users/profile', { body: { ...profile, activated: false } })).status).toBe(201);
  const hidden = { contributor: { id: ines.id, name: 'Unknown User', avatar: null }, by: 'Unknown User' };
  expect(await settled(() => shown(one.read), hidden)).toEqual(hidden);
  await signIn(site, 'ines@example.com');
  for (const { read } of [one, two]) expect(await settled(() => shown(read), renamed)).toEqual(renamed);
});

test('a closed account reads as Deleted User, and its name leaves the lake with every version that held it', async () => {
  const context = await site.context();
  const { db } = context;
  const vera = await makePerson(db, 'verasecret');
  const { id, read } = await contributedBy(vera, 'Kept');
  const staying = await makePerson(db, 'stayingname');
  const other = await contributedBy(staying, 'Other');
  expect((await shown(read)).contributor.name).toBe('Verasecret Tester');
  expect(await filesHolding('Verasecret')).not.toEqual([]);
  const named = await exported(id);
  expect((await owner('GET', named)).text).toContain('Verasecret');
  const hers = await exported(other.id);
  expect((await site.as(vera)('DELETE', `/api/v1/users/${vera.id}`)).status).toBe(200);
  const gone = { contributor: { id: vera.id, name: 'Deleted User', avatar: null }, by: 'Deleted User' };
  expect(await settled(() => shown(read), gone)).toEqual(gone);
  await expect.poll(async () => (await owner('GET', named)).status).toBe(410);
  expect((await owner('GET', hers)).text).toContain('Stayingname');
  // reads that began before may still be at the old files: they are left alone for a while
  expect(await filesHolding('Verasecret')).not.toEqual([]);
  expect(await db.rows(sql('t')`select 1 as one from identity_changes where user_id = ${vera.id}`)).toHaveLength(1);
  await refreshChangedIdentities(context, new AbortController().signal, eraseNamedExports, 0);
  expect(await filesHolding('Verasecret')).toEqual([]);
  expect(await db.rows(sql('t')`select 1 as one from identity_changes where user_id = ${vera.id}`)).toEqual([]);
  const reports = await db.rows<{ details: object }>(
    sql('t')`select details from audit_events where action = 'user.erased' and subject_id = ${vera.id} order by at`,
  );
  expect(reports.map(({ details }) => details)).toEqual([
    { store: 'exports', experiments: 1, files: 1 },
    { store: 'lake', experiments: 1, files: expect.toSatisfy((count: number) => count > 0) },
  ]);
  expect(await shown(read)).toEqual(gone);
  expect((await shown(other.read)).contributor.name).toBe('Stayingname Tester');
  expect(await filesHolding('Stayingname')).not.toEqual([]);
  // nothing brings it back
  await refreshIdentity(context, id);
  expect(await filesHolding('Verasecret')).toEqual([]);
});

test('a file that is being completed when an account is closed goes too', async () => {
  const { db } = site;
  const cleo = await makePerson(db, 'cleosecret');
  const { id } = await contributedBy(cleo, 'Completing');
  const endpoint = randomUUID();
  await db.run(sql('t')`
    insert into webhook_endpoints (id, organization_id, url, kinds, secret, held_until)
    values (${endpoint}, ${site.cast.leafLab}, 'https://example.org/', array['export.completed'], '', 'infinity')`);
  const exports = `/api/v1/experiments/${id}/data/exports`;
  // what is completed tells of itself in the same transaction, which is held there; its progress waits behind it, and then the erasure
  const path = await db.transaction(async (tx) => {
    await tx.run(sql('t')`select from webhook_endpoints where id = ${endpoint} for update`);
    const made = await owner('POST', exports, { body: { tableName: 'plots', format: 'csv' } });
    await expect.poll(() => countWaiting(db)).toBe(2);
    expect((await site.as(cleo)('DELETE', `/api/v1/users/${cleo.id}`)).status).toBe(200);
    await expect.poll(() => countWaiting(db)).toBeGreaterThan(2);
    return `${exports}/${(made.body as { exportId: string }).exportId}`;
  });
  await expect.poll(async () => (await owner('GET', path)).status).toBe(410);
});

test('a name that was read before a change is never written after it', async () => {
  const context = await site.context();
  const tom = await makePerson(context.db, 'tom');
  const { id, read } = await contributedBy(tom, 'Raced');
  const deps = { db: context.db, staging: context.staging };
  const row = (name: string) => ({ userId: tom.id, name, avatar: null, pseudonym: 'Contributor-0' });
  let reads = 0;
  await replaceIdentity(deps, id, async () => {
    reads += 1;
    const seen = row(`Read ${reads}`);
    // while the slow one is between reading and writing, another has read later and written first
    if (reads === 1) await replaceIdentity(deps, id, () => Promise.resolve([row('In between')]));
    return [seen];
  });
  expect(reads).toBe(2);
  expect((await shown(read)).contributor.name).toBe('Read 2');
  // what was staged for nothing is not left behind
  expect(await filesHolding('Read 1')).toEqual([]);
});

test('names whose commit Postgres did not answer stay readable', async () => {
  const { db, staging } = await site.context();
  const ned = await makePerson(db, 'ned');
  const { id, read } = await contributedBy(ned, 'Unanswered');
  const people = [{ userId: ned.id, name: 'Ned Unanswered', avatar: null, pseudonym: 'Contributor-0' }];
  await expect(replaceIdentity({ db: loseCommits(db), staging }, id, () => Promise.resolve(people))).rejects.toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
  });
  expect((await shown(read)).contributor.name).toBe('Ned Unanswered');
});

test('a change that comes while another is carried out is carried out too', async () => {
  const context = await site.context();
  const { db } = context;
  const mia = await makePerson(db, 'mia');
  const { read } = await contributedBy(mia, 'Twice');
  const rename = (firstName: string) => site.as(mia)('POST', '/api/v1/users/profile', { body: { firstName, lastName: 'Tester' } });
  for (let round = 0; round < 5; round += 1) {
    await rename(`Mia${round}`);
    await Promise.all([
      refreshChangedIdentities(context, new AbortController().signal, eraseNamedExports),
      rename(`Mia-${round}`),
      refreshChangedIdentities(context, new AbortController().signal, eraseNamedExports),
    ]);
    const last = { contributor: { id: mia.id, name: `Mia-${round} Tester`, avatar: null }, by: `Mia-${round} Tester` };
    expect(await settled(() => shown(read), last)).toEqual(last);
  }
});

test('a change that is committed while another is being ended is due at once', async () => {
  const { db } = site;
  const pia = await makePerson(db, 'pia');
  await contributedBy(pia, 'Ended');
  const changes = () => db.rows(sql('t')`select 1 as one from identity_changes where user_id = ${pia.id}`);
  await expect.poll(changes).toEqual([]);
  // as a worker has it in hand: nobody else takes it up until it is let go
  const taken = await db.one<{ changedAt: string }>(sql('t')`insert into identity_changes (user_id, leased_until)
    values (${pia.id}, now() + interval '1 hour') returning changed_at::text as "changedAt"`);
  const change = { userId: pia.id, changedAt: taken?.changedAt ?? '', refreshedAt: null, isClosed: false };
  const waits = () =>
    db.rows(sql('t')`select 1 as one from pg_locks w join pg_locks r using (pid)
      join pg_database d on d.oid = r.database and datname = current_database()
      where not w.granted and r.relation = 'identity_changes'::regclass and r.mode = 'RowExclusiveLock'`);
  const ending = await db.transaction(async (tx) => {
    await tx.run(sql('t')`update identity_changes set changed_at = clock_timestamp() where user_id = ${pia.id}`);
    const ended = endIdentityChange(db, change).then(() => releaseIdentityChange(db, change));
    await expect.poll(waits).toHaveLength(1);
    return { ended };
  });
  await ending.ended;
  await expect.poll(changes).toEqual([]);
});
