import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const post = async (path: string, body: object) =>
  (await owner()('POST', `/api/v1/${path}`, { body: { organizationId: site.cast.leafLab, ...body } })).body;
const protocol = (body: object = {}) => post('protocols', { name: 'Phi2', code: [{ a: 1 }], family: 'multispeq', ...body });
const macro = (body: object = {}) => post('macros', { name: 'Fit', code: 'output.a = 1', language: 'javascript', ...body });
const experiment = (body: object = {}) => post('experiments', { name: 'Field', ...body });
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

const cellsOf = (protocolId: string, macroId: string) => [
  {
    id: 'ask',
    type: 'question',
    name: 'Leaf side',
    question: { kind: 'multi_choice', text: 'Which?', options: ['top', 'bottom'] },
    answer: 'top',
  },
  { id: 'note', type: 'markdown', content: 'Hold the leaf flat.' },
  { id: 'measure', type: 'protocol', payload: { protocolId, version: 1, name: 'Phi2' } },
  { id: 'fit', type: 'macro', payload: { macroId, language: 'javascript' } },
  { id: 'out', type: 'output', producedBy: 'fit', data: { a: 1 } },
  {
    id: 'decide',
    type: 'branch',
    paths: [
      {
        id: 'again',
        label: 'again',
        color: 'red',
        conditions: [{ id: 'c', sourceCellId: 'fit', field: 'a', operator: 'lt', value: '2' }],
        gotoCellId: 'measure',
      },
    ],
    defaultPathId: 'again',
  },
  { id: 'send', type: 'command', payload: { format: 'string', content: 'hello' } },
];

const full = async () => {
  const [p, m] = [await protocol(), await macro()];
  const workbook = await post('workbooks', { name: 'Walk', cells: cellsOf(p.id, m.id), metadata: { colour: 'green' } });
  return { protocol: p, macro: m, workbook };
};

describe('workbooks', () => {
  test('POST /api/v1/workbooks and GET /api/v1/workbooks/{id}: every field, all seven kinds of cell', async () => {
    const { workbook } = await full();
    const read = await owner()('GET', `/api/v1/workbooks/${workbook.id}`);
    expect(read.body).toMatchObject({
      name: 'Walk',
      description: null,
      metadata: { colour: 'green' },
      organizationName: 'Leaf Lab',
      visibility: 'private',
      createdByName: 'Owner Tester',
      forkedFrom: null,
      isUpgradable: false,
      experimentCount: 0,
      capabilities: { canManage: true },
    });
    expect(read.body.cells.map(({ type }: { type: string }) => type)).toEqual([
      'question',
      'markdown',
      'protocol',
      'macro',
      'output',
      'branch',
      'command',
    ]);
    expect(read.body.cells[0]).toMatchObject({ isCollapsed: false, isAnswered: false, answer: 'top' });
    expect((await site.as(site.cast.stranger)('GET', `/api/v1/workbooks/${workbook.id}`)).status).toBe(403);
  });

  test('bad cells are refused with the place, and unknown members of a cell are left out', async () => {
    const create = (cells: unknown) => owner()('POST', '/api/v1/workbooks', { body: { name: 'Bad', cells } });
    expect((await create([{ id: 'a', type: 'markdown', content: '', colour: 'x' }])).body.cells).toEqual([
      { id: 'a', isCollapsed: false, type: 'markdown', content: '' },
    ]);
    expect((await create([{ id: 'a', type: 'video' }])).status).toBe(400);
    expect((await create([{ id: '', type: 'markdown', content: '' }])).status).toBe(400);
    expect((await create([{ id: 'a', type: 'protocol', payload: { protocolId: 'nonsense', version: 1 } }])).body).toMatchObject({
      code: 'INVALID_INPUT',
      errors: [{ path: '/cells/0/payload/protocolId' }],
    });
    expect((await create([{ id: 'a', type: 'branch', paths: [] }])).status).toBe(400);
    const asks = (name: string) => ({ id: name, type: 'question', name, question: { kind: 'yes_no', text: '?' } });
    expect((await create([asks('Leaf Side'), asks('leaf-side')])).body.errors[0].path).toBe('/cells/1/name');
    let deep: unknown = 1;
    for (let level = 0; level < 500; level += 1) deep = [deep];
    expect((await create([{ id: 'a', type: 'output', producedBy: 'x', data: deep }])).status).toBe(400);
  });

  test('GET /api/v1/workbooks counts cells by type and leaves the cells out', async () => {
    const viewer = site.as(site.cast.viewer);
    const cell = (id: string) => ({ id, type: 'markdown', content: 'x' });
    await viewer('POST', '/api/v1/workbooks', { body: { name: 'Listed', cells: [cell('a'), cell('b')] } });
    await viewer('POST', '/api/v1/workbooks', { body: { name: 'Another' } });
    const { body } = await viewer('GET', '/api/v1/workbooks', { query: { scope: 'related' } });
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['Another', 'Listed']);
    expect(body[1]).toMatchObject({ cellTypeCounts: { markdown: 2 }, experimentCount: 0, isUpgradable: false });
    expect(body[1]).not.toHaveProperty('cells');
  });

  test('PATCH /api/v1/workbooks/{id}, DELETE /api/v1/workbooks/{id} and PATCH /api/v1/workbooks/{id}/visibility', async () => {
    const { id } = await post('workbooks', { name: 'Changed' });
    const path = `/api/v1/workbooks/${id}`;
    const etag = (await owner()('GET', path)).headers.get('etag') ?? '';
    const changed = await owner()('PATCH', path, { body: { metadata: { a: 1 }, cells: [] }, headers: { 'if-match': etag } });
    expect(changed).toMatchObject({ status: 200, body: { metadata: { a: 1 }, name: 'Changed' } });
    expect((await owner()('PATCH', path, { body: { name: 'Lost' }, headers: { 'if-match': etag } })).status).toBe(412);
    expect((await owner()('PATCH', path, { body: {} })).status).toBe(200);
    expect((await site.as(site.cast.member)('PATCH', path, { body: { name: 'No' } })).status).toBe(403);
    expect((await owner()('PATCH', `${path}/visibility`, { body: { visibility: 'public' } })).body).toEqual({ id, visibility: 'public' });
    expect((await owner()('DELETE', path)).body).toBeNull();
    expect((await owner()('GET', path)).status).toBe(404);
  });

  test('a workbook with cells of an older shape does not make the list fail', async () => {
    const { id } = await post('workbooks', { name: 'Old cells' });
    await post('workbooks', { name: 'New cells' });
    await site.db.run(
      sql('test')`update workbooks set cells = '[{"id": 7}, {"type": "gone", "id": "x"}]', cell_type_counts = '{}' where id = ${id}`,
    );
    const listed = await owner()('GET', '/api/v1/workbooks');
    expect(listed.status).toBe(200);
    expect(listed.body.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['Old cells', 'New cells']));
    const headers = { 'x-api-key': site.cast.owner.apiKey };
    expect((await fetch(`${site.server.baseUrl}/api/v1/workbooks/${id}`, { headers })).status).toBe(200);
  });

  test('GET /api/v1/workbooks/{id}/problems names missing and hidden references, dangling branches and reserved names', async () => {
    const { workbook } = await full();
    expect((await owner()('GET', `/api/v1/workbooks/${workbook.id}/problems`)).body).toEqual({ ok: true, problems: [] });
    const { body: hidden } = await site.as(site.cast.stranger)('POST', '/api/v1/macros', { body: { name: 'h', code: '1', language: 'r' } });
    const broken = await post('workbooks', {
      name: 'Broken',
      cells: [
        { id: 'm', type: 'macro', payload: { macroId: hidden.id, language: 'python' } },
        { id: 'p', type: 'protocol', payload: { protocolId: UNKNOWN, version: 1 } },
        { id: 'p', type: 'question', name: 'Timestamp', question: { kind: 'yes_no', text: '?' } },
        {
          id: 'b',
          type: 'branch',
          paths: [
            {
              id: 'x',
              label: '',
              color: '',
              conditions: [{ id: 'c', sourceCellId: 'gone', field: 'a', operator: 'eq', value: '' }],
              gotoCellId: 'nowhere',
            },
          ],
          defaultPathId: 'y',
        },
      ],
    });
    const { body } = await owner()('GET', `/api/v1/workbooks/${broken.id}/problems`);
    expect(body.ok).toBe(false);
    expect(body.problems.map(({ code }: { code: string }) => code)).toEqual([
      'unreadable-macro',
      'macro-language-changed',
      'macro-without-input',
      'missing-protocol',
      'reserved-name',
      'duplicate-cell-id',
      'dangling-branch-source',
      'dangling-branch-goto',
      'dangling-branch-default',
    ]);
  });
});

describe('an experiment and its workbook', () => {
  const at = (id: string, step: string, body?: object) =>
    owner()('POST', `/api/v1/experiments/${id}/workbook/${step}`, body ? { body } : {});

  test('POST /api/v1/experiments/{id}/workbook/attach publishes version 1, pins it and writes the flow', async () => {
    const { workbook, protocol: p, macro: m } = await full();
    const { id } = await experiment();
    const pin = await at(id, 'attach', { workbookId: workbook.id });
    expect(pin).toMatchObject({ status: 200, body: { workbookId: workbook.id, version: 1 } });
    const shown = (await owner()('GET', `/api/v1/experiments/${id}`)).body;
    expect(shown).toMatchObject({ workbookId: workbook.id, workbookVersionId: pin.body.workbookVersionId });
    const { graph } = (await owner()('GET', `/api/v1/experiments/${id}/flow`)).body;
    expect(graph.nodes.map(({ id: node, type }: { id: string; type: string }) => [node, type])).toEqual([
      ['ask', 'question'],
      ['note', 'instruction'],
      ['measure', 'measurement'],
      ['fit', 'analysis'],
      ['decide', 'branch'],
      ['send', 'measurement'],
    ]);
    expect(graph.edges.map(({ id: edge }: { id: string }) => edge)).toContain('e-decide-again-measure');
    expect(graph.nodes.filter(({ isStart }: { isStart: boolean }) => isStart)).toHaveLength(1);
    const again = await at((await experiment()).id, 'attach', { workbookId: workbook.id });
    expect(again.body).toEqual(pin.body);

    const versions = await owner()('GET', `/api/v1/workbooks/${workbook.id}/versions`);
    expect(versions.body).toEqual([
      { id: pin.body.workbookVersionId, workbookId: workbook.id, version: 1, createdAt: expect.any(String), createdBy: site.cast.owner.id },
    ]);
    const version = (await owner()('GET', `/api/v1/workbooks/${workbook.id}/versions/${pin.body.workbookVersionId}`)).body;
    expect(version.entitySnapshots).toEqual({
      protocols: { [p.id]: { code: [{ a: 1 }], family: 'multispeq' } },
      macros: { [m.id]: { code: 'output.a = 1', language: 'javascript' } },
    });
    expect(version.metadata).toEqual({ colour: 'green' });
    expect(version.cells.map(({ type }: { type: string }) => type)).not.toContain('output');
    expect(JSON.stringify(version.cells)).not.toContain('answer');
    const other = await post('workbooks', { name: 'Other' });
    expect((await owner()('GET', `/api/v1/workbooks/${other.id}/versions/${pin.body.workbookVersionId}`)).status).toBe(404);
  });

  test('what is drift: edits, code, family and language, deletions; what is not: collapsing, answering, renaming', async () => {
    const { workbook, protocol: p, macro: m } = await full();
    const { id } = await experiment();
    const path = `/api/v1/workbooks/${workbook.id}`;
    const upgradable = async () => (await owner()('GET', path)).body.isUpgradable;
    const cells = cellsOf(p.id, m.id);
    const versionOf = async () => (await at(id, 'upgrade')).body.version;
    await at(id, 'attach', { workbookId: workbook.id });
    expect(await upgradable()).toBe(false);
    await owner()('PATCH', path, { body: { name: 'Renamed', cells: cells.map((cell) => ({ ...cell, isCollapsed: true })) } });
    await owner()('PATCH', path, {
      body: { cells: cells.map((cell) => (cell.type === 'question' ? { ...cell, answer: 'bottom' } : cell)) },
    });
    expect(await upgradable()).toBe(false);
    expect(await versionOf()).toBe(1);
    const changes: [string, () => Promise<unknown>][] = [
      ['design', () => owner()('PATCH', path, { body: { cells: cells.slice(1) } })],
      ['macro code', () => owner()('PUT', `/api/v1/macros/${m.id}`, { body: { code: 'output.a = 2' } })],
      ['macro language', () => owner()('PUT', `/api/v1/macros/${m.id}`, { body: { language: 'python' } })],
      ['protocol family', () => owner()('PATCH', `/api/v1/protocols/${p.id}`, { body: { family: 'ambit' } })],
      ['deletion', () => owner()('DELETE', `/api/v1/protocols/${p.id}`)],
    ];
    for (const [index, [what, change]] of changes.entries()) {
      await change();
      expect([what, await upgradable()]).toEqual([what, true]);
      expect([what, await versionOf()]).toEqual([what, index + 2]);
      expect([what, await upgradable()]).toEqual([what, false]);
    }
  });

  test('POST /api/v1/experiments/{id}/workbook/upgrade: ten at once make exactly one new version', async () => {
    const { workbook } = await full();
    const ids = [];
    for (let index = 0; index < 10; index += 1) ids.push((await experiment()).id);
    for (const id of ids) await at(id, 'attach', { workbookId: workbook.id });
    await owner()('PATCH', `/api/v1/workbooks/${workbook.id}`, { body: { cells: [] } });
    const pins = await Promise.all(ids.map((id) => at(id, 'upgrade')));
    expect(pins.map(({ status, body }) => [status, body.version])).toEqual(ids.map(() => [200, 2]));
    const { body } = await owner()('GET', `/api/v1/workbooks/${workbook.id}/versions`);
    expect(body.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
    // no cell is a step, so there is no flow
    expect((await owner()('GET', `/api/v1/experiments/${ids[0]}/flow`)).status).toBe(404);
    expect((await owner()('GET', `/api/v1/workbooks/${workbook.id}`)).body.experimentCount).toBe(10);
  });

  test('POST /api/v1/experiments/{id}/workbook/version pins back, POST …/detach keeps the version as history', async () => {
    const { workbook } = await full();
    const { id } = await experiment();
    expect((await at(id, 'detach')).body.code).toBe('NO_WORKBOOK_ATTACHED');
    expect((await at(id, 'upgrade')).status).toBe(400);
    const first = (await at(id, 'attach', { workbookId: workbook.id })).body;
    await owner()('PATCH', `/api/v1/workbooks/${workbook.id}`, { body: { cells: [{ id: 'a', type: 'markdown', content: 'only' }] } });
    expect((await at(id, 'upgrade')).body.version).toBe(2);
    expect((await at(id, 'version', { versionId: first.workbookVersionId })).body).toEqual(first);
    expect((await owner()('GET', `/api/v1/experiments/${id}/flow`)).body.graph.nodes).toHaveLength(6);
    const other = await full();
    const foreign = (await at((await experiment()).id, 'attach', { workbookId: other.workbook.id })).body;
    expect((await at(id, 'version', { versionId: foreign.workbookVersionId })).body.code).toBe('WORKBOOK_VERSION_NOT_FOUND');
    const detached = await at(id, 'detach');
    expect(detached).toMatchObject({ status: 200, body: { workbookId: null, workbookVersionId: first.workbookVersionId } });
    expect((await owner()('GET', `/api/v1/experiments/${id}/flow`)).status).toBe(404);
  });

  test('a version keeps at most 5 MB of code', async () => {
    const { id } = await experiment();
    const macros = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => post('macros', { name, language: 'r', code: '#'.repeat(1_300_000) })),
    );
    const cells = macros.map((macro, at) => ({ id: `m${at}`, type: 'macro', payload: { macroId: macro.id, language: 'r' } }));
    const workbook = await post('workbooks', { name: 'Long', cells: cells.slice(1) });
    const set = (to: object[]) => owner()('PATCH', `/api/v1/workbooks/${workbook.id}`, { body: { cells: to } });
    expect((await at(id, 'attach', { workbookId: workbook.id })).status).toBe(200);
    expect((await set(cells)).status).toBe(200);
    for (const refused of [await at(id, 'attach', { workbookId: workbook.id }), await at(id, 'upgrade', {})])
      expect(refused).toMatchObject({ status: 409, body: { code: 'WORKBOOK_TOO_LARGE' } });
    const problems = async () =>
      (await owner()('GET', `/api/v1/workbooks/${workbook.id}/problems`)).body.problems.filter((each: any) => each.severity === 'error');
    expect(await problems()).toEqual([expect.objectContaining({ code: 'too-much-code', cellId: 'm3' })]);
    expect((await set([...cells.slice(1), { ...cells[1], id: 'again' }])).status).toBe(200);
    expect(await problems()).toEqual([]);
    expect((await owner()('GET', `/api/v1/workbooks/${workbook.id}/versions`)).body).toHaveLength(1);
  });

  test('refusals leave everything as it was: access, hidden references, archived, a flow that breaks its rules', async () => {
    const { workbook } = await full();
    const { id } = await experiment();
    const state = async () => (await owner()('GET', `/api/v1/experiments/${id}`)).body;
    const before = await state();
    expect(
      (await site.as(site.cast.member)('POST', `/api/v1/experiments/${id}/workbook/attach`, { body: { workbookId: workbook.id } })).status,
    ).toBe(403);
    const hidden = (await site.as(site.cast.stranger)('POST', '/api/v1/workbooks', { body: { name: 'h' } })).body;
    expect((await at(id, 'attach', { workbookId: hidden.id })).status).toBe(403);
    expect((await at(id, 'attach', { workbookId: UNKNOWN })).status).toBe(404);
    expect((await at(id, 'attach', { workbookId: 'x' })).status).toBe(400);
    const { body: secret } = await site.as(site.cast.stranger)('POST', '/api/v1/macros', { body: { name: 's', code: '1', language: 'r' } });
    const leaking = await post('workbooks', {
      name: 'Leak',
      cells: [{ id: 'm', type: 'macro', payload: { macroId: secret.id, language: 'r' } }],
    });
    expect((await at(id, 'attach', { workbookId: leaking.id })).body).toMatchObject({ code: 'WORKBOOK_NOT_PUBLISHABLE' });
    const reserved = await post('workbooks', {
      name: 'R',
      cells: [{ id: 'q', type: 'question', name: 'Timestamp', question: { kind: 'yes_no', text: '?' } }],
    });
    expect((await at(id, 'attach', { workbookId: reserved.id })).body).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await owner()('GET', `/api/v1/workbooks/${reserved.id}/versions`)).body).toEqual([]);
    expect(await state()).toEqual(before);
    const failed = await owner()('POST', '/api/v1/experiments', { body: { name: 'Not made', workbookId: hidden.id } });
    expect(failed.status).toBe(403);
    expect((await owner()('GET', '/api/v1/experiments', { query: { search: 'Not made', scope: 'related' } })).body).toEqual([]);
    await owner()('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
    expect((await at(id, 'attach', { workbookId: workbook.id })).body.code).toBe('EXPERIMENT_ARCHIVED');
  });

  test('POST /api/v1/experiments with workbookId attaches as the attach route would', async () => {
    const { workbook } = await full();
    const made = await experiment({ workbookId: workbook.id });
    expect(made).toMatchObject({ workbookId: workbook.id, workbookVersionId: expect.any(String) });
    expect((await owner()('GET', `/api/v1/experiments/${made.id}/flow`)).status).toBe(200);
  });

  test('a deleted workbook leaves what is pinned, and its versions go with the last pin', async () => {
    const { workbook } = await full();
    const { id } = await experiment();
    const first = (await at(id, 'attach', { workbookId: workbook.id })).body;
    const second = await experiment();
    await owner()('PATCH', `/api/v1/workbooks/${workbook.id}`, { body: { cells: [] } });
    await at(second.id, 'attach', { workbookId: workbook.id });
    await owner()('DELETE', `/api/v1/experiments/${second.id}`);
    expect((await owner()('DELETE', `/api/v1/workbooks/${workbook.id}`)).status).toBe(200);
    expect((await owner()('GET', `/api/v1/experiments/${id}`)).body).toMatchObject({
      workbookId: null,
      workbookVersionId: first.workbookVersionId,
    });
    expect((await owner()('GET', `/api/v1/experiments/${id}/flow`)).status).toBe(200);
    const kept = () =>
      site.db.rows<{ version: number }>(
        sql('test')`select version from workbook_versions where workbook_id = ${workbook.id} order by version`,
      );
    expect(await kept()).toEqual([{ version: 1 }]);
    await expect(site.db.run(sql('test')`update workbook_versions set cells = '[]' where workbook_id = ${workbook.id}`)).rejects.toThrow();
    await owner()('DELETE', `/api/v1/experiments/${id}`);
    expect(await kept()).toEqual([]);
  });
});
