import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cell } from '../../src/api/workbooks/cells.ts';
import { makeFlow } from '../../src/api/workbooks/flow.ts';
import { listProblems } from '../../src/api/workbooks/problems.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('the metadata of a workbook, which lists hold, has 100,000 characters at most', async () => {
  const owner = site.as(site.cast.owner);
  // {"note":"…"} is eleven characters besides the text
  const metadataOf = (characters: number) => ({ note: 'x'.repeat(characters - 11) });
  const made = await owner('POST', '/api/v1/workbooks', { body: { name: 'Walk', metadata: metadataOf(100_000) } });
  expect(made.status).toBe(201);
  const problem = { path: '/metadata', message: 'has 100001 characters as JSON; at most 100000 are kept' };
  const refused = await owner('POST', '/api/v1/workbooks', { body: { name: 'Walk', metadata: metadataOf(100_001) } });
  expect([refused.status, refused.body]).toMatchObject([400, { code: 'INVALID_INPUT', errors: [problem] }]);
  const path = `/api/v1/workbooks/${(made.body as { id: string }).id}`;
  const patched = await owner('PATCH', path, { body: { metadata: metadataOf(100_001) } });
  expect([patched.status, patched.body]).toMatchObject([400, { code: 'INVALID_INPUT', errors: [problem] }]);
  expect((await owner('PATCH', path, { body: { metadata: metadataOf(99_999) } })).status).toBe(200);
});

test('the cells of a workbook are looked at a few times each, however many paths lead to them', () => {
  let looks = 0;
  const paths = Array.from({ length: 30 }, (_, at) => ({ id: `p${at}`, label: '', color: '', conditions: [], gotoCellId: 'note' }));
  const cells: Cell[] = Array.from({ length: 500 }, (_, at) => ({
    get id() {
      looks += 1;
      return `b${at}`;
    },
    isCollapsed: false,
    type: 'branch' as const,
    paths,
  }));
  cells.push({ id: 'note', isCollapsed: false, type: 'markdown', content: ' ' });
  const asked = { text: 'Which plot?', required: false, kind: 'number' as const };
  cells.push({ id: 'plot', isCollapsed: false, type: 'question', name: 'plot', question: asked, isAnswered: false });
  // a path to a cell that is no step leads to the first step behind it
  const edges = makeFlow(cells)?.edges.filter(({ sourceHandle }) => typeof sourceHandle === 'string') ?? [];
  expect(edges).toHaveLength(500 * 30);
  expect(new Set(edges.map(({ target }) => target))).toEqual(new Set(['plot']));
  expect(listProblems(cells, [])).toEqual([]);
  // an edge names the cell that it begins at
  expect(looks).toBeLessThan(500 * 30 * 3);
});
