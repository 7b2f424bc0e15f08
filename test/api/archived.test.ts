import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { changesExperiment, experimentWrites } from '../support/experiment-writes.ts';
import { operationRows, servedOperations } from '../support/operations.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let writes: ReturnType<typeof experimentWrites>;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  writes = experimentWrites(site);
});
afterAll(() => site.stop());

/** Writes that name their experiments in the body. */
const BY_BODY = new Set([
  'POST /api/v1/collaborators/transfer-admin',
  'POST /api/v1/iot/upload-url',
  'POST /api/v1/iot/upload-complete',
  'POST /api/v1/invitations',
  'DELETE /api/v1/invitations/{invitationId}',
  'POST /api/v1/devices/{deviceId}/onboard',
  'POST /api/v1/device-groups/{groupId}/onboard',
]);
const names = operationRows.filter((row) => changesExperiment(row, BY_BODY)).map(({ method, path }) => `${method} ${path}`);

const perform = async (name: string, archive: boolean) => {
  const [method = '', template = ''] = name.split(' ');
  const body = { name: `Kept for ${name}`, organizationId: site.cast.leafLab };
  const { id } = (await owner('POST', '/api/v1/experiments', { body })).body as { id: string };
  const write = await writes[name]!.prepare(id);
  const path = Object.entries({ id, ...write.path }).reduce((filled, [key, value]) => filled.replace(`{${key}}`, value), template);
  if (archive) expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).body.status).toBe('archived');
  return { id, answer: await (write.as ?? owner)(method, path, write.body === undefined ? {} : { body: write.body }) };
};

test('every write under an experiment that is served has its row here, and no other', () => {
  const served = servedOperations(site.openapi).filter((operation) => changesExperiment(operation, BY_BODY));
  expect(Object.keys(writes).sort()).toEqual(served.map(({ method, path }) => `${method} ${path}`).sort());
});

// each has an experiment of its own
test.concurrent.for(names)('%s under an archived experiment, and it publishes nothing', async (name) => {
  const { whenArchived } = writes[name]!;
  const open = await perform(name, false);
  expect(open.answer.status, open.answer.text).toBeLessThan(300);
  // nothing but the decision to publish does; who asks to join has it published first
  const { db } = site;
  const stored = await db.one<{ visibility: string; opens: Date | null }>(
    sql('test')`select visibility, public_from as opens from resources where id = ${open.id}`,
  );
  if (!/visibility|join-requests/.test(name) && stored) expect(stored).toEqual({ visibility: 'private', opens: null });
  const { id, answer } = await perform(name, true);
  if (whenArchived === 'refused for each') {
    expect(open.answer.body.devices).toMatchObject([{ error: null }]);
    expect(answer.body.devices).toMatchObject([{ config: null, error: expect.stringMatching(/archived/) }]);
    expect((await owner('GET', `/api/v1/experiments/${id}/devices`)).body).toEqual([]);
  } else if (whenArchived === 'taken') expect(answer.status, answer.text).toBeLessThan(300);
  else {
    expect({ status: answer.status, code: answer.body?.code ?? answer.text }).toEqual({ status: 409, code: 'EXPERIMENT_ARCHIVED' });
    expect((await owner('GET', `/api/v1/experiments/${id}`)).body.status).toBe('archived');
  }
});

test('an archived experiment is un-archived by its status alone, and takes writes again', async () => {
  const { id } = await perform('PATCH /api/v1/experiments/{id}', true);
  const path = `/api/v1/experiments/${id}`;
  expect((await owner('PATCH', path, { body: { status: 'active', name: 'Both' } })).body.code).toBe('EXPERIMENT_ARCHIVED');
  expect((await owner('PATCH', path, { body: { status: 'active' } })).body.status).toBe('active');
  expect((await owner('PATCH', path, { body: { name: 'Again' } })).body.name).toBe('Again');
});
