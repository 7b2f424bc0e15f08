import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importProjectFile } from '../../src/api/imports/imports.service.ts';
import { sql } from '../../src/database/sql.ts';
import { nextLetter } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const secrets = [1, 2].map(() => `whsec_${randomBytes(32).toString('base64')}`);
let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ WEBHOOK_SECRETS: secrets.join(',') });
});
afterAll(() => site.stop());

const PATH = '/api/v1/webhooks/project-transfer';
interface Signing {
  id?: string;
  at?: number;
  secret?: string;
  body?: string;
}
const sign = (text: string, { id = randomUUID(), at = Math.floor(Date.now() / 1000), secret = secrets[0]! }: Signing = {}) => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(at),
  'webhook-signature': `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${at}.${text}`)
    .digest('base64')}`,
});
const deliver = (project: unknown, signing: Signing = {}) => {
  const text = typeof project === 'string' ? project : JSON.stringify(project);
  return site.as(null)('POST', PATH, { body: signing.body ?? text, headers: sign(text, signing) });
};
const counts = async () =>
  (
    await site.db.rows<{ type: string; count: number }>(
      sql('test')`select type, count(*) as count from resources group by type union all select 'flow', count(*) from flows
        union all select 'version', count(*) from workbook_versions union all select 'delivery', count(*) from webhook_deliveries order by 1`,
    )
  ).map(({ type, count }) => `${type} ${count}`);
const project = (changes: object = {}) => ({
  experiment: {
    name: 'Old project',
    description: 'Brought over',
    createdBy: site.cast.viewer.id,
    locations: [{ name: 'Field 4', latitude: 52, longitude: 5 }],
  },
  protocol: { name: 'Old protocol', code: [{ a: 1.5 }], createdBy: site.cast.viewer.id },
  macro: { name: 'Old macro', code: 'b3V0cHV0LmEgPSAx', createdBy: site.cast.viewer.id },
  questions: [
    { kind: 'yes_no', text: 'Timestamp' },
    { kind: 'multi_choice', text: 'Leaf', options: ['a', 'b'], required: true },
    { kind: 'number', text: 'leaf' },
  ],
  ...changes,
});

describe('POST /api/v1/webhooks/project-transfer', () => {
  test('makes experiment, locations, protocol, macro, link, workbook, version and flow for its owner', async () => {
    const answer = await deliver(project());
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      experimentId: expect.any(String),
      protocolId: expect.any(String),
      macroId: expect.any(String),
      macroFilename: expect.stringMatching(/^macro_[0-9a-f]{12}$/),
      macroName: 'Old macro',
      flowId: expect.any(String),
      workbookId: expect.any(String),
      workbookVersionId: expect.any(String),
      message: expect.any(String),
    });
    const viewer = site.as(site.cast.viewer);
    const { experimentId, workbookId, workbookVersionId, protocolId, macroId, flowId } = answer.body;
    expect((await viewer('GET', `/api/v1/experiments/${experimentId}`)).body).toMatchObject({
      name: 'Old project',
      visibility: 'private',
      organizationId: site.cast.viewer.workspaceId,
      workbookId,
      workbookVersionId,
      locations: [{ name: 'Field 4' }],
    });
    const flow = (await viewer('GET', `/api/v1/experiments/${experimentId}/flow`)).body;
    expect(flow.id).toBe(flowId);
    expect(flow.graph.nodes.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['Timestamp 2', 'question'],
      ['Leaf', 'question'],
      ['leaf 2', 'question'],
      ['Measurement', 'measurement'],
      ['Analysis', 'analysis'],
    ]);
    expect((await viewer('GET', `/api/v1/protocols/${protocolId}/macros`)).body[0].macro.id).toBe(macroId);
    expect((await viewer('GET', `/api/v1/workbooks/${workbookId}/versions`)).body).toHaveLength(1);
    const again = (await deliver(project())).body;
    expect([again.protocolId, again.macroId]).toEqual([protocolId, macroId]);
    expect(again.experimentId).not.toBe(experimentId);
  });

  test('a bare experiment is enough, an older secret still signs, and what another made is shared with the owner', async () => {
    const bare = await deliver({ experiment: { name: 'Bare', createdBy: site.cast.viewer.id } }, { secret: secrets[1]! });
    expect(bare).toMatchObject({ status: 201, body: { protocolId: null, macroId: null, flowId: null, workbookId: null } });
    expect(await nextLetter(site, 'viewer@example.com', 0)).toContain('Your project is here');
    const mixed = await deliver(
      project({ protocol: { name: 'Of the owner of Leaf Lab', code: 1, createdBy: site.cast.owner.id }, macro: null, questions: [] }),
    );
    expect(mixed.status).toBe(201);
    expect((await site.as(site.cast.viewer)('GET', `/api/v1/protocols/${mixed.body.protocolId}`)).body).toMatchObject({
      createdBy: site.cast.owner.id,
      capabilities: { canUpdate: false },
    });
  });

  test('the same delivery twenty times at once makes one experiment', async () => {
    const before = await counts();
    const id = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(project({ macro: null }), { id })));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(others.every(({ status, body }) => status === 409 && body.code === 'WEBHOOK_REPLAYED')).toBe(true);
    expect(others.every(({ body }) => body.result.experimentId === made[0]!.body.experimentId)).toBe(true);
    expect(new Set(await counts())).not.toEqual(new Set(before));
    const experiments = (rows: string[]) => Number(rows.find((row) => row.startsWith('experiment '))?.split(' ')[1]);
    expect(experiments(await counts())).toBe(experiments(before) + 1);
  });

  test('a failing step leaves nothing, and the delivery may come again', async () => {
    const before = await counts();
    const id = randomUUID();
    const failing = [
      project({ experiment: { name: 'x', createdBy: randomUUID() } }),
      project({ macro: { name: 'm', code: 'x', createdBy: randomUUID() } }),
      project({ protocol: { name: 'p', code: null, createdBy: site.cast.viewer.id } }),
      project({ questions: [{ kind: 'multi_choice', text: 'none' }] }),
      project({ macro: { name: 'm\u0000', code: 'x', createdBy: site.cast.viewer.id } }),
    ];
    for (const bad of failing) expect((await deliver(bad, { id })).status).toBe(400);
    expect(await counts()).toEqual(before);
    expect((await deliver(project(), { id })).status).toBe(201);
  });

  test('an unsigned, wrongly signed, stale or tampered call is refused, whatever it says', async () => {
    const now = Math.floor(Date.now() / 1000);
    const before = await counts();
    expect((await site.as(null)('POST', PATH, { body: project() })).body.code).toBe('WEBHOOK_SIGNATURE_INVALID');
    expect((await site.as(site.cast.owner)('POST', PATH, { body: project() })).status).toBe(401);
    const strange = `whsec_${randomBytes(32).toString('base64')}`;
    for (const signing of [{ secret: strange }, { at: now - 301 }, { at: now + 400 }, { body: JSON.stringify({ experiment: {} }) }])
      expect((await deliver(project(), signing)).status).toBe(401);
    expect((await deliver('{"experiment":', { secret: strange })).status).toBe(401);
    expect((await deliver('{"experiment":')).status).toBe(400);
    expect(await counts()).toEqual(before);
    expect((await deliver(project(), { at: now - 200 })).status).toBe(201);
  });
});

describe('transfer requests', () => {
  test('POST /api/v1/transfer-requests and GET /api/v1/transfer-requests, completed by the import that names them', async () => {
    const member = site.as(site.cast.member);
    const ask = (projectIdOld: string, projectUrlOld = 'https://old.example/projects/1') =>
      member('POST', '/api/v1/transfer-requests', { body: { projectIdOld, projectUrlOld } });
    const made = await ask(' 1200 ');
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      requestId: expect.any(String),
      userId: site.cast.member.id,
      userEmail: 'member@example.com',
      sourcePlatform: 'photosynq',
      projectIdOld: '1200',
      projectUrlOld: 'https://old.example/projects/1',
      status: 'pending',
      requestedAt: expect.any(String),
    });
    expect(await nextLetter(site, 'member@example.com', 0)).toContain('photosynq');
    expect(await ask('1200')).toMatchObject({ status: 409, body: { code: 'TRANSFER_ALREADY_REQUESTED' } });
    for (const url of ['nonsense', '/relative', 'javascript:alert(1)']) expect((await ask('7', url)).status).toBe(400);
    expect((await ask('   ')).status).toBe(400);
    const second = (await ask('1201')).body;
    expect((await site.as(site.cast.stranger)('GET', '/api/v1/transfer-requests')).body).toEqual([]);
    const bring = (names: object, createdBy = site.cast.member.id) => deliver({ experiment: { name: 'Mine', createdBy }, ...names });
    await bring({ projectIdOld: '1200' }, site.cast.stranger.id);
    await bring({ requestId: randomUUID() });
    const statuses = async () =>
      (await member('GET', '/api/v1/transfer-requests')).body.map(({ projectIdOld, status }: { projectIdOld: string; status: string }) => [
        projectIdOld,
        status,
      ]);
    expect(await statuses()).toEqual([
      ['1201', 'pending'],
      ['1200', 'pending'],
    ]);
    await bring({ projectIdOld: '1200' });
    await bring({ requestId: second.requestId });
    expect(await statuses()).toEqual([
      ['1201', 'completed'],
      ['1200', 'completed'],
    ]);
  });
});

test('an exported file is imported once, for an owner who stands in where it names none', async () => {
  const text = '{"experiment":{"name":"From a file"},"protocol":{"name":"Exact","code":[1.0,{"b":1e400}]}}';
  const context = await site.context();
  await expect(importProjectFile(context, text)).rejects.toMatchObject({ status: 400 });
  const made = await importProjectFile(context, text, site.cast.owner.id);
  const read = await site.as(site.cast.owner)('GET', `/api/v1/protocols/${made.protocolId ?? ''}`);
  expect(read.text).toContain('"code":[1.0,{"b":1e400}]');
  await expect(importProjectFile(context, text, site.cast.owner.id)).rejects.toMatchObject({ status: 409 });
});
