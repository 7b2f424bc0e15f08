import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openContract } from '../../src/contract/contract.ts';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { measureJson } from '../../src/contract/size.ts';
import { readFullJson } from '../../src/json.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;
const contract = openContract(document);
const flow = (body: unknown, valueCount = 10) => contract.checkBody('post /api/v1/experiments/:id/flow', body, valueCount).problems;
const PLACE = { name: 'Plot', latitude: 52, longitude: 6 };
const EXPORT = (limit: unknown) => ({ tableName: 'raw_data', format: 'csv', limit });
const node = { id: 'a', isStart: true, type: 'question', name: 'Plot', content: { kind: 'number', text: 'Which?' } };

test('a body is told where it differs from the document, and what is allowed there', () => {
  expect(flow({ nodes: [node], edges: [] })).toEqual([]);
  const problems = flow({
    nodes: [node, { ...node, isStart: 'true' }, { ...node, isStart: false, id: 7 }, { ...node, isStart: false, type: 'riddle' }, 5],
  });
  expect(problems).toContainEqual({ path: '/edges', message: 'is required' });
  expect(problems).toContainEqual({ path: '/nodes/1/isStart', message: 'must be true or false' });
  expect(problems).toContainEqual({ path: '/nodes/2/id', message: 'must be text' });
  expect(problems).toContainEqual({
    path: '/nodes/3/type',
    message: 'must be one of question, instruction, measurement, analysis, branch',
  });
  expect(problems).toContainEqual({ path: '/nodes/4', message: 'must be an object' });
  expect(problems).toHaveLength(5);
  expect(flow({ nodes: [node, { ...node, id: 'b' }], edges: [] })).toEqual([
    { path: '/nodes', message: 'must hold exactly one node with isStart' },
  ]);
  expect(flow({ nodes: [], edges: [] })).toHaveLength(1);
});

test('a member that is not known is told with those that it may stand for', () => {
  const chart = (source: object) =>
    contract.checkBody(
      'post /api/v1/experiments/:id/visualizations',
      { name: 'A', chartFamily: 'basic', chartType: 'line', dataConfig: { tableName: '', dataSources: [source] } },
      10,
    ).problems;
  expect(chart({ tableName: '', columnName: '', role: 'x' })).toEqual([]);
  expect(chart({ tableName: '', columnName: '', role: 'x', serieName: 'A' })).toEqual([
    { path: '/dataConfig/dataSources/0', message: "has no member 'serieName'. Did you mean 'seriesName'?" },
  ]);
});

test('a place is told once what it must hold', () => {
  const create = (body: object) => contract.checkBody('post /api/v1/experiments', { name: 'A', ...body }, 5).problems;
  const send = (limit: unknown) => contract.checkBody('post /api/v1/experiments/:id/data/exports', EXPORT(limit), 5).problems;
  expect(create({ status: 'active', locations: [PLACE] })).toEqual([]);
  expect(create({ status: null })).toEqual([{ path: '/status', message: 'must be one of active, stale, archived, published' }]);
  expect(create({ locations: [{ ...PLACE, name: '' }] })).toEqual([{ path: '/locations/0/name', message: 'must not be empty' }]);
  expect(send(5)).toEqual([]);
  expect(send(5.5)).toEqual([{ path: '/limit', message: 'must be a whole number' }]);
  expect(send(1e30)).toEqual([{ path: '/limit', message: expect.stringMatching(/^must be at most /) }]);
});

test('a number that keeps its digits is no object', () => {
  const book = (metadata: unknown) => contract.checkBody('post /api/v1/workbooks', { name: 'A', cells: [], metadata }, 5).problems;
  const long = readFullJson('[12345678901234567890]') as [unknown];
  expect(book({ serial: long[0] })).toEqual([]);
  expect(book(long[0])).toEqual([{ path: '/metadata', message: 'must be an object' }]);
  expect(book([long[0]])).toEqual([{ path: '/metadata', message: 'must be an object' }]);
});

test('of a large body the first problem is told', () => {
  const nodes = Array.from({ length: 500 }, () => ({ id: 1 }));
  expect(flow({ nodes, edges: [] }, 999)).toHaveLength(20);
  expect(flow({ nodes, edges: [] }, 1_000)).toHaveLength(1);
});

test('a union that a value fits nowhere is one problem', () => {
  const invite = (role: unknown) =>
    contract.checkBody(
      'post /api/v1/auth/organization/invite-member',
      { email: 'a@example.org', role, organizationId: crypto.randomUUID() },
      5,
    ).problems;
  expect(invite('member')).toEqual([]);
  expect(invite(['member'])).toEqual([]);
  expect(invite(5)).toEqual([{ path: '/role', message: expect.stringMatching(/^must be (text or a list|one of)/) }]);
});

test('a query is typed by the document; a name that is given twice, or a number that is none, is refused', () => {
  const query = (texts: Record<string, unknown>) => contract.checkTexts('get /api/v1/experiments', 'query', texts);
  expect(query({ page: '2', pageSize: '5' })).toEqual({ values: { page: 2, pageSize: 5 }, problems: [] });
  expect(query({ page: ['1', '2'] }).problems).toEqual([{ path: '?page', message: 'must be given once' }]);
  expect(query({ page: '0x10' }).problems).toEqual([{ path: '?page', message: 'must be a whole number' }]);
  expect(query({ page: '99999999999' }).problems[0]?.path).toBe('?page');
  expect(query({ status: 'lost' }).problems[0]?.message).toMatch(/^must be one of active, /);
});

test('a time has any offset that ISO 8601 knows; one that cannot be kept is refused', () => {
  const until = (text: string) => contract.checkBody('post /api/v1/experiments', { name: 'A', embargoUntil: text }, 5);
  const from = (text: string) => contract.checkTexts('get /api/v1/organizations/:id/audit', 'query', { from: text });
  for (const text of ['2027-01-01T23:59:59Z', '2027-01-02T00:59:59+01:00', '2027-01-02T00:59:59+0100', '2027-01-02T00:59:59+01']) {
    expect(until(text), text).toEqual({ body: { name: 'A', embargoUntil: new Date('2027-01-01T23:59:59Z') }, problems: [] });
    expect(from(text).values, text).toMatchObject({ from: new Date('2027-01-01T23:59:59Z') });
  }
  const message = 'must be a time with its offset, such as 2026-05-01T12:00:00Z';
  for (const text of ['2027-01-01T23:59:60Z', '2027-01-02T00:59:60+01', '2027-02-29T00:00:00Z', '2027-01-01T23:59:59']) {
    expect(until(text).problems, text).toEqual([{ path: '/embargoUntil', message }]);
    expect(from(text).problems, text).toEqual([{ path: '?from', message }]);
  }
});

test('what a JSON text holds is counted in its bytes, and refused beyond each limit', async () => {
  const limits = { values: 20, members: 5, items: 12, depth: 4 };
  const measure = (text: string) => measureJson(Buffer.from(text), limits);
  await expect(measure('{"a":[[[1]]],"b":"[[[[[["}')).resolves.toMatchObject({ values: 6 });
  await expect(measure('[[[[[1]]]]]')).rejects.toMatchObject({ details: { problems: [{ message: 'must nest at most 4 levels deep' }] } });
  await expect(measure(`[${'1,'.repeat(20)}1]`)).rejects.toMatchObject({ details: { problems: [{ message: /20 values/ }] } });
  await expect(measure('{"a":1,"b":1,"c":1,"d":1,"e":"\\",","f":1}')).rejects.toMatchObject({
    details: { problems: [{ message: /5 members/ }] },
  });
  await expect(measure(`{"a":[${'1,'.repeat(11)}1]}`)).resolves.toMatchObject({ values: 14, isWhole: true });
  await expect(measure(`{"a":[${'1,'.repeat(12)}1]}`)).rejects.toMatchObject({ details: { problems: [{ message: /12 items/ }] } });
  for (const broken of ['{"a":[1,2', '{"a":"', '[']) await expect(measure(broken)).resolves.toMatchObject({ isWhole: false });
  // a list can be cut at the commas of its own, wherever a piece is long enough
  const text = `{"s":[1],"items":[{"a":[1,2],"t":"${'],'.repeat(40_000)}"},2,3,"${'x'.repeat(70_000)}",5]}`;
  const { list } = await measure(text);
  expect(list?.commas.map((at) => text.slice(at - 1, at + 2))).toEqual(['},2', '",5']);
});
