import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlowGraph } from '../../src/api/flow/flow.model.ts';
import { listGraphProblems } from '../../src/api/flow/graph.ts';
import { canonicaliseQuestion, isReservedColumn, replaceFlow } from '../../src/api/flow/flow.service.ts';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
const experiment = async (body: object = {}): Promise<string> =>
  (await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Flowing', organizationId: site.cast.leafLab, ...body } }))
    .body.id;
const nodeOf = (id: string, more: object = {}) => ({ id, type: 'instruction', name: id, content: { text: 'Look' }, ...more });
const asked = (id: string, name: string, more: object = {}) =>
  nodeOf(id, { type: 'question', name, content: { kind: 'yes_no', text: 'Really?' }, ...more });
const good = { nodes: [asked('a', 'Is it dry?', { isStart: true }), nodeOf('b')], edges: [{ id: 'e', source: 'a', target: 'b' }] };
const every = {
  nodes: [
    asked('q1', 'Dry', { isStart: true, position: { x: 1.5, y: -2 } }),
    asked('q2', 'Height', { content: { kind: 'number', text: '', required: true } }),
    asked('q3', 'Remarks', { content: { kind: 'open_ended', text: 'Anything?' } }),
    asked('q4', 'Leaf', { content: { kind: 'multi_choice', text: 'Which?', options: ['young', 'old'] } }),
    nodeOf('i'),
    nodeOf('m1', { type: 'measurement', content: { protocolId: crypto.randomUUID(), params: { light: [1, 2] } } }),
    nodeOf('m2', { type: 'measurement', content: { command: { format: 'yaml', content: 'a: 1' } } }),
    nodeOf('x', { type: 'analysis', content: { macroId: crypto.randomUUID(), params: {} } }),
    nodeOf('d', { type: 'branch', content: { paths: [{ id: 'p', label: '', color: '#fff' }], defaultPathId: 'p' } }),
  ],
  edges: [{ id: 'e1', source: 'd', target: 'q1', label: null, sourceHandle: 'p' }],
};

describe('the flow of an experiment', () => {
  test('POST /api/v1/experiments/{id}/flow makes one, with every kind of node and every field', async () => {
    const id = await experiment();
    const isWith = async () => (await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/access`)).body.hasFlow;
    expect(await isWith()).toBe(false);
    const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/flow`, { body: every });
    expect(answer.status).toBe(201);
    expect(await isWith()).toBe(true);
    expect(answer.body).toEqual({
      id: expect.any(String),
      experimentId: id,
      graph: {
        nodes: every.nodes.map((node) => ({
          isStart: false,
          ...node,
          content: node.type === 'question' ? { required: false, ...node.content } : node.content,
        })),
        edges: every.edges,
      },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/flow`, { body: good })).toMatchObject({
      status: 409,
      body: { code: 'FLOW_EXISTS' },
    });
  });

  test('GET /api/v1/experiments/{id}/flow is read by whoever reads the experiment', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    expect(await owner('GET', `/api/v1/experiments/${id}/flow`)).toMatchObject({ status: 404, body: { code: 'FLOW_NOT_FOUND' } });
    await owner('POST', `/api/v1/experiments/${id}/flow`, { body: good });
    const member = await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/flow`);
    expect(member).toMatchObject({ status: 200, body: { experimentId: id, graph: { edges: good.edges } } });
    const again = { headers: { 'if-none-match': member.headers.get('etag') ?? '' } };
    expect((await site.as(site.cast.member)('GET', `/api/v1/experiments/${id}/flow`, again)).status).toBe(304);
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/experiments/${id}/flow`)).status).toBe(403);
    expect((await site.as(null)('GET', `/api/v1/experiments/${id}/flow`)).status).toBe(401);
  });

  test('a flow with a node of an older shape is still read', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    await owner('POST', `/api/v1/experiments/${id}/flow`, { body: good });
    await site.db.run(
      sql(
        'test',
      )`update flows set graph = '{"nodes": [{"id": "a", "type": "gone", "content": null}], "edges": null}' where experiment_id = ${id}`,
    );
    const headers = { 'x-api-key': site.cast.owner.apiKey };
    const read = await fetch(`${site.server.baseUrl}/api/v1/experiments/${id}/flow`, { headers });
    expect(read.status).toBe(200);
    expect(((await read.json()) as { graph: { nodes: object[] } }).graph.nodes).toMatchObject([{ id: 'a', type: 'gone' }]);
    expect((await owner('PUT', `/api/v1/experiments/${id}/flow`, { body: good })).status).toBe(200);
  });

  test('PUT /api/v1/experiments/{id}/flow replaces it, and not for a stale If-Match, a member, or an archived experiment', async () => {
    const id = await experiment();
    const owner = site.as(site.cast.owner);
    const path = `/api/v1/experiments/${id}/flow`;
    expect((await owner('PUT', path, { body: good })).status).toBe(404);
    const made = await owner('POST', path, { body: good });
    const headers = { 'if-match': made.headers.get('etag') ?? '' };
    const changed = await owner('PUT', path, { body: every, headers });
    expect(changed).toMatchObject({ status: 200, body: { id: made.body.id } });
    expect(changed.body.graph.nodes).toHaveLength(every.nodes.length);
    expect((await owner('PUT', path, { body: good, headers })).status).toBe(412);
    await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
    expect((await site.as(site.cast.viewer)('PUT', path, { body: good })).status).toBe(403);
    await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect(await owner('PUT', path, { body: good })).toMatchObject({ status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } });
    expect((await owner('GET', path)).status).toBe(200);
    const empty = await experiment({ status: 'archived' });
    expect((await owner('POST', `/api/v1/experiments/${empty}/flow`, { body: good })).status).toBe(409);
  });

  test('refuses graphs that break a rule, naming the place', async () => {
    const id = await experiment();
    const send = async (graph: object) => {
      const answer = await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/flow`, { body: graph });
      expect(answer.status).toBe(400);
      return answer.body.errors.map(({ path }: { path: string }) => path);
    };
    const start = { isStart: true };
    expect(await send({ nodes: [], edges: [] })).toEqual(['/nodes']);
    expect(await send({ nodes: [nodeOf('a')], edges: [] })).toEqual(['/nodes']);
    expect(await send({ nodes: [nodeOf('a', start), nodeOf('b', start)], edges: [] })).toEqual(['/nodes']);
    expect(await send({ nodes: [nodeOf('a', start), nodeOf('a')], edges: [] })).toEqual(['/nodes/1/id']);
    expect(await send({ ...good, edges: [...good.edges, ...good.edges] })).toEqual(['/edges/1/id']);
    expect(await send({ ...good, edges: [{ id: 'e', source: 'a', target: 'nowhere' }] })).toEqual(['/edges/0/target']);
    expect(await send({ nodes: [asked('a', 'Is it dry?', start), asked('b', 'is IT dry')], edges: [] })).toEqual(['/nodes/1/name']);
    for (const name of ['Device ID', 'timestamp', 'Annotations', 'contributor', 'macro_error'])
      expect(await send({ nodes: [asked('a', name, start)], edges: [] })).toEqual(['/nodes/0/name']);
    expect(await send({ nodes: [nodeOf('a', { ...start, name: '' })], edges: [] })).toHaveLength(1);
    expect(await send({ nodes: [nodeOf('a', { ...start, content: { text: '' } })], edges: [] })).toEqual(['/nodes/0/content/text']);
    expect(
      await send({ nodes: [asked('a', 'x', { ...start, content: { kind: 'multi_choice', text: '', options: [] } })], edges: [] }),
    ).toEqual(['/nodes/0/content/options']);
    expect(await send({ nodes: [nodeOf('a', { ...start, type: 'measurement', content: { protocolId: 'x' } })], edges: [] })).toEqual([
      '/nodes/0/content/protocolId',
      '/nodes/0/content/command',
    ]);
    const branch = (content: object) => send({ nodes: [nodeOf('a', { ...start, type: 'branch', content })], edges: [] });
    expect(await branch({ paths: [] })).toEqual(['/nodes/0/content/paths']);
    expect(await branch({ paths: [{ id: 'p', label: '', color: '' }], defaultPathId: 'q' })).toEqual(['/nodes/0/content/defaultPathId']);
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    const measured = nodeOf('a', { ...start, type: 'measurement', content: { protocolId: crypto.randomUUID(), params: deep } });
    expect(await send({ nodes: [measured], edges: [] })).toEqual(['']);
    expect((await site.as(site.cast.owner)('POST', `/api/v1/experiments/${id}/flow`, { body: good })).status).toBe(201);
  });

  test('a workbook puts its own flow in place, or takes it away', async () => {
    const id = await experiment();
    const { db } = site;
    const put = (graph: object) => db.transaction((tx) => replaceFlow(tx, id, graph as FlowGraph));
    const first = await put(good);
    const second = await put(every);
    expect(second?.id).toBe(first?.id);
    await expect(put({ nodes: [asked('a', 'id', { isStart: true })], edges: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect((await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/flow`)).body.graph.nodes).toHaveLength(9);
    expect(await put({ nodes: [], edges: [] })).toBeNull();
    expect((await site.as(site.cast.owner)('GET', `/api/v1/experiments/${id}/flow`)).status).toBe(404);
  });
});

describe('canonical question names', () => {
  test('follow the rule', () => {
    const cases: Record<string, string> = {
      'Is it dry?': 'is_it_dry',
      '  Plot #  ': 'plot',
      '2nd leaf': 'question_2nd_leaf',
      '': 'question_empty',
      '???': 'question_',
      Höhe: 'h_he',
      leaf_count: 'leaf_count',
    };
    for (const [label, column] of Object.entries(cases)) expect(canonicaliseQuestion(label)).toBe(column);
    expect(isReservedColumn('Device_ID')).toBe(true);
    expect(isReservedColumn('height')).toBe(false);
  });

  test('are always columns, and stay what they are when named again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 24 }), (label) => {
        const column = canonicaliseQuestion(label);
        expect(column).toMatch(/^[a-z_][a-z0-9_]*$/);
        if (column !== 'question_') expect(canonicaliseQuestion(column)).toBe(column);
      }),
      { seed, numRuns: 60 },
    );
  });

  test('of any graph, two question nodes never share one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'A', 'a ', 'b', '1', 'question 1', 'id'), { minLength: 1, maxLength: 6 }), (names) => {
        const nodes = names.map((name, index) => asked(String(index), name, { isStart: index === 0 }));
        const columns = names.map(canonicaliseQuestion);
        const sound = new Set(columns).size === columns.length && !columns.some(isReservedColumn);
        expect(listGraphProblems({ nodes, edges: [] } as unknown as FlowGraph, 'body').length === 0).toBe(sound);
      }),
      { seed },
    );
  });
});
