import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql, type Query } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

type Answered = Pick<Answer, 'status' | 'body'>;

/** Begins calls one after the other, each when those before it stand in line for what `lock` holds, and then lets them go in their order. */
async function standInLine(lock: Query, calls: readonly (() => Promise<Answered>)[]): Promise<Answered[]> {
  const answers: Promise<Answered>[] = [];
  await site.db.transaction(async (tx) => {
    await tx.run(lock);
    for (const call of calls) {
      answers.push(call());
      await expect.poll(() => countWaiting(site.db)).toBe(answers.length);
    }
  });
  return Promise.all(answers);
}

const makeExperiment = async () => (await owner('POST', '/api/v1/experiments', { body: { name: 'Contested' } })).body.id as string;

test('a write that waits while its experiment is archived is refused, and one that waits while it is made active is not', async () => {
  const id = await makeExperiment();
  const path = `/api/v1/experiments/${id}`;
  const holding = sql('t')`select from resources where id = ${id} for no key update`;
  const setStatus = (status: string) => () => owner('PATCH', path, { body: { status } });
  const rename = (name: string) => () => owner('PATCH', path, { body: { name } });
  const share = () => {
    const body = { granteeType: 'user', granteeId: site.cast.stranger.id };
    return owner('POST', `/api/v1/experiment/${id}/collaborators`, { body });
  };
  const refused = { status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } };
  const archived = await standInLine(holding, [setStatus('archived'), rename('Late'), share]);
  expect(archived).toMatchObject([{ status: 200 }, refused, refused]);
  const active = await standInLine(holding, [setStatus('active'), rename('In time'), share]);
  expect(active.map(({ status }) => status)).toEqual([200, 200, 201]);
});

test('a workbook that is published while one of its macros changes keeps the code that it says it keeps', async () => {
  const macro = (await owner('POST', '/api/v1/macros', { body: { name: 'Fit', code: 'output.a = 1', language: 'javascript' } })).body;
  const cells = [{ id: 'fit', type: 'macro', payload: { macroId: macro.id, language: 'javascript' } }];
  const workbook = (await owner('POST', '/api/v1/workbooks', { body: { name: 'Walk', cells } })).body;
  const id = await makeExperiment();
  const [, attached] = await standInLine(sql('t')`select from resources where id = ${macro.id} for no key update`, [
    () => owner('PUT', `/api/v1/macros/${macro.id}`, { body: { code: 'output.a = 2' } }),
    () => owner('POST', `/api/v1/experiments/${id}/workbook/attach`, { body: { workbookId: workbook.id } }),
  ]);
  expect(attached).toMatchObject({ status: 200, body: { version: 1 } });
  const path = `/api/v1/workbooks/${workbook.id}`;
  const version = (await owner('GET', `${path}/versions/${attached!.body.workbookVersionId}`)).body;
  expect(version.entitySnapshots.macros[macro.id]).toEqual({ code: 'output.a = 2', language: 'javascript' });
  expect((await owner('GET', path)).body.isUpgradable).toBe(false);
});

test('an organization that takes a slug just before another is told of by the same name as one that took it long ago', async () => {
  const browser = await signIn(site, 'slugs@example.com');
  const make = async (slug: string) => (await browser.call('POST', '/api/v1/auth/organization/create', { name: 'Lab', slug })).body.id;
  const organizationId = await make('first-lab');
  const taken = sql('t')`insert into organizations (id, name, slug, visibility) values (${randomUUID()}, 'Quicker', 'wanted', 'private')`;
  const [refused] = await standInLine(taken, [
    () => browser.call('POST', '/api/v1/auth/organization/update', { organizationId, data: { slug: 'wanted' } }),
  ]);
  expect(refused).toMatchObject({ status: 409, body: { code: 'ORGANIZATION_SLUG_ALREADY_TAKEN' } });
});

test('who signs up while being invited is let in, and who is invited twice at once is invited once', async () => {
  const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Inviting', organizationId: site.cast.leafLab } })).body;
  const invite = (by: Call, email: string) => () =>
    by('POST', '/api/v1/invitations', { body: { resourceType: 'experiment', resourceId: id, email, tier: 'viewer' } });
  let isSignedIn = false;
  const { signing, inviting } = await site.db.transaction(async (tx) => {
    await tx.run(sql('t')`select from users where id = ${site.cast.owner.id} for no key update`);
    const invited = invite(owner, 'early@example.com')();
    await expect.poll(() => countWaiting(site.db)).toBe(1);
    const signed = signIn(site, 'early@example.com').finally(() => (isSignedIn = true));
    await expect.poll(async () => isSignedIn || (await countWaiting(site.db)) === 2).toBe(true);
    return { signing: signed, inviting: invited };
  });
  expect((await inviting).status).toBe(201);
  expect((await (await signing).call('GET', `/api/v1/experiments/${id}`)).status).toBe(200);
  const [first, second] = await standInLine(sql('t')`select from resources where id = ${id} for no key update`, [
    invite(owner, 'late@example.com'),
    invite(site.as(site.cast.admin), 'late@example.com'),
  ]);
  expect(first).toMatchObject({ status: 201, body: { status: 'pending' } });
  expect(second).toMatchObject({ status: 201, body: { id: first!.body.id } });
});
