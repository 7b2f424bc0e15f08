import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'python,javascript', MACRO_LEVEL: 'embedded', MACRO_ACCEPT_ROOT: 'on' });
});
afterAll(() => site.stop());

const owner = () => site.as(site.cast.owner);
const macro = async (code: string, language = 'javascript', body: object = {}) =>
  (await owner()('POST', '/api/v1/macros', { body: { name: 'Run', language, code, organizationId: site.cast.leafLab, ...body } })).body;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

describe('POST /api/v1/macros/{id}/execute', () => {
  test('answers output, prints, errors with their place, and refusals as results', async () => {
    const { id } = await macro(
      'console.log("n", json.values.length)\noutput.sum = json.values.reduce((a, b) => a + b, 0) + (ctx.add || 0)',
    );
    const run = (body: object) => owner()('POST', `/api/v1/macros/${id}/execute`, { body });
    const answer = await run({ data: { values: [1, 2, 3] } });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      macro_id: id,
      success: true,
      output: { sum: 6 },
      logs: ['n 3'],
      durationMs: expect.any(Number),
    });
    expect((await run({ data: '{"values":[1]}', context: '{"add":5}' })).body.output).toEqual({ sum: 6 });
    expect((await run({ data: { sample: [{ values: [4] }, { values: [9] }] } })).body.output).toEqual({ sum: 4 });
    expect((await run({ data: { sample: [] } })).body).toMatchObject({ success: false, error: expect.stringMatching(/^empty-envelope/) });
    const failed = (await run({ data: {} })).body;
    expect(failed).toMatchObject({ success: false, error: expect.stringContaining('TypeError'), failure: { line: 1 } });
    expect(failed).not.toHaveProperty('output');
    for (const bad of [{}, { data: 5 }, { data: 'nonsense' }, { data: {}, context: [] }, { data: {}, timeout: 61 }])
      expect((await run(bad)).status).toBe(400);
    expect((await site.as(site.cast.stranger)('POST', `/api/v1/macros/${id}/execute`, { body: { data: {} } })).status).toBe(403);
    expect((await owner()('POST', `/api/v1/macros/${UNKNOWN}/execute`, { body: { data: {} } })).status).toBe(404);
  });

  test('python sees whole numbers digit by digit, however they are sent, and gives them as text', async () => {
    const { id } = await macro('return {"n": json["n"], "next": json["n"] + 1, "list": json["list"], "of": ctx["n"]}', 'python');
    for (const n of ['9007199254740993', '-9223372036854775808', '12345678901234567890', '12']) {
      const text = `{"n":${n},"list":[${n},0.5]}`;
      const told = (value: bigint) => (BigInt.asIntN(53, value) === value ? Number(value) : String(value));
      const output = { n: told(BigInt(n)), next: told(BigInt(n) + 1n), list: [told(BigInt(n)), 0.5], of: told(BigInt(n)) };
      for (const data of [JSON.rawJSON(n), null]) {
        const sent = data === null ? { data: text, context: `{"n":${n}}` } : { data: { n: data, list: [data, 0.5] }, context: { n: data } };
        const answer = await owner()('POST', `/api/v1/macros/${id}/execute`, { body: sent });
        expect(answer.body.output, answer.text).toEqual(output);
        const item = { id: '1', macro_id: id, ...sent };
        const batch = await owner()('POST', '/api/v1/macros/execute-batch', { body: { items: [item] } });
        expect(batch.body.results[0].output, batch.text).toEqual(output);
      }
    }
  });

  test.each([
    ['javascript', 'return { keys: Object.keys(json), around: Object.keys(ctx), same: json };'],
    ['python', 'output["keys"] = list(json)\noutput["around"] = list(ctx)\noutput["same"] = dict(json)'],
  ])('%s: keys that hold escapes arrive and come back as they were sent, whatever keys came before', async (language, code) => {
    const { id } = await macro(code, language);
    for (const key of ['\\', '\n', '"', '\\nab', '\nabc', 'a\\', 'a\t']) {
      const data = { n: 1, [key]: 2 };
      const context = { m: 1, [key]: 2 };
      const expected = { keys: ['n', key], around: ['m', key], same: data };
      for (const body of [
        { data, context },
        { data: JSON.stringify(data), context: JSON.stringify(context) },
      ])
        expect((await owner()('POST', `/api/v1/macros/${id}/execute`, { body })).body.output).toEqual(expected);
    }
  });

  test('another text is run in the place of the stored one, which stays', async () => {
    const { id } = await macro('output.a = "stored"');
    const run = (body: object) => owner()('POST', `/api/v1/macros/${id}/execute`, { body: { data: { n: 2 }, ...body } });
    expect((await run({})).body.output).toEqual({ a: 'stored' });
    expect((await run({ code: 'output.a = json.n * 2' })).body.output).toEqual({ a: 4 });
    expect((await run({ code: 'output.a = json.n * 3' })).body.output).toEqual({ a: 6 });
    expect((await run({ code: '\nnope()' })).body).toMatchObject({ success: false, failure: { line: 2 } });
    expect((await run({})).body.output).toEqual({ a: 'stored' });
    expect((await owner()('GET', `/api/v1/macros/${id}`)).body).toMatchObject({ codeVersion: 1 });
    expect((await run({ code: '' })).status).toBe(400);
    const stranger = site.as(site.cast.stranger);
    expect((await stranger('POST', `/api/v1/macros/${id}/execute`, { body: { data: {}, code: 'output.a = 1' } })).status).toBe(403);
  });

  test('a limit is honoured as sent, and the service goes on', async () => {
    const { id } = await macro('for (;;) {}');
    const slow = await owner()('POST', `/api/v1/macros/${id}/execute`, { body: { data: {}, itemTimeout: 0.3 } });
    expect(slow.body).toMatchObject({ success: false, error: expect.stringContaining('TimeoutError') });
  });

  test('the clock can be fixed for javascript, and for nothing else', async () => {
    const { id } = await macro('return { now: Date.now(), day: new Intl.DateTimeFormat("en-GB", { dateStyle: "long" }).format() };');
    const clock = '2024-06-01T12:00:00.000Z';
    const fixed = { now: Date.parse(clock), day: '1 June 2024' };
    const one = async (body: object) =>
      (await owner()('POST', `/api/v1/macros/${id}/execute`, { body: { data: {}, ...body } })).body.output;
    expect(await one({ clock })).toEqual(fixed);
    expect(Math.abs((await one({})).now - Date.now())).toBeLessThan(60_000);
    const items = [{ id: 'a', macro_id: id, data: {} }];
    const many = await owner()('POST', '/api/v1/macros/execute-batch', { body: { items, clock } });
    expect(many.body.results).toMatchObject([{ id: 'a', output: fixed }]);
    const python = await macro("output['n'] = 1", 'python');
    expect((await owner()('POST', `/api/v1/macros/${python.id}/execute`, { body: { data: {}, clock } })).status).toBe(400);
    const mixed = { items: [...items, { id: 'b', macro_id: python.id, data: {} }], clock };
    expect((await owner()('POST', '/api/v1/macros/execute-batch', { body: mixed })).status).toBe(400);
    expect((await owner()('POST', `/api/v1/macros/${id}/execute`, { body: { data: {}, clock: 'noon' } })).status).toBe(400);
  });

  test('python runs too; a language that is not offered is refused, without what the machine says of it', async () => {
    const { id } = await macro("output['n'] = len(json['values'])", 'python');
    const answer = await owner()('POST', `/api/v1/macros/${id}/execute`, { body: { data: { values: [1, 2] }, itemTimeout: 10 } });
    expect(answer.body).toMatchObject({ success: true, output: { n: 2 } });
    const r = await macro('output$a <- 1', 'r');
    const refused = await owner()('POST', `/api/v1/macros/${r.id}/execute`, { body: { data: {} } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'MACRO_RUNTIME_UNAVAILABLE' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.text).not.toMatch(/configured|bubblewrap|\/usr/);
  });
});

test('code that would not start is stored with a warning that has its line and column', async () => {
  const bad = await macro('output.a = 1\noutput.b = (');
  expect(bad).toMatchObject({ code: 'output.a = 1\noutput.b = (', warnings: [{ line: expect.any(Number), column: expect.any(Number) }] });
  const changed = await owner()('PUT', `/api/v1/macros/${bad.id}`, { body: { code: 'output.a = 1' } });
  expect(changed.body.warnings).toEqual([]);
});

describe('POST /api/v1/macros/execute-batch', () => {
  const batch = (items: object[], more: object = {}) => owner()('POST', '/api/v1/macros/execute-batch', { body: { items, ...more } });

  test('results come in order, one bad item spoils no other, and what may not be read looks like what is not there', async () => {
    const good = await macro('if (json.n === 2) for (;;) {}\noutput.n = json.n');
    const python = await macro("output['n'] = json['n'] * 2", 'python');
    const hidden = (await site.as(site.cast.stranger)('POST', '/api/v1/macros', { body: { name: 'h', language: 'r', code: '1' } })).body;
    const answer = await batch(
      [
        { id: 'a', macro_id: good.id, data: { n: 1 } },
        { id: 'b', macro_id: python.id, data: { n: 1 } },
        { id: 'c', macro_id: good.id, data: { n: 2 } },
        { id: 'a', macro_id: hidden.id, data: {} },
        { id: '', macro_id: UNKNOWN, data: {} },
        { id: 'e', macro_id: good.id, data: { sample: [] } },
        { id: 'f', macro_id: good.id, data: { n: 3 } },
      ],
      { itemTimeout: 2 },
    );
    expect(answer.status).toBe(200);
    expect(answer.body.success).toBe(true);
    expect(
      answer.body.results.map(({ id, success, output }: { id: string; success: boolean; output: unknown }) => [id, success, output]),
    ).toEqual([
      ['a', true, { n: 1 }],
      ['b', true, { n: 2 }],
      ['c', false, undefined],
      ['a', false, undefined],
      ['', false, undefined],
      ['e', false, undefined],
      ['f', true, { n: 3 }],
    ]);
    expect(answer.body.results[3].error.replace(hidden.id, 'X')).toBe(answer.body.results[4].error.replace(UNKNOWN, 'X'));
    expect(answer.body.errors).toHaveLength(2);
    expect((await batch([])).status).toBe(400);
    expect((await site.as(null)('POST', '/api/v1/macros/execute-batch', { body: { items: [] } })).status).toBe(401);
  });

  test('what all macros of a batch answer together is bounded, so that no caller fills the memory of the service', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c']) made.push(await macro(`return { ${name}: "x".repeat(json.n) }`));
    const items = made.flatMap(({ id }) => Array.from({ length: 8 }, () => ({ id: '', macro_id: id as string, data: { n: 9_000_000 } })));
    const { status, body } = await batch(items, { timeout: 60, itemTimeout: 5 });
    expect(status).toBe(200);
    const answered = (body.results as { success: boolean }[]).filter(({ success }) => success).length;
    // two macros run at once, and each may go over what is left by what the other answers meanwhile
    expect(answered).toBeGreaterThanOrEqual(8);
    expect(answered).toBeLessThanOrEqual(17);
    const refused = (body.results as { success: boolean; error?: string }[]).find(({ success }) => !success);
    expect(refused?.error).toContain('The outputs of the batch reached their limit');
  });

  test('5,000 items of one macro give that many results in order, and more are refused', async () => {
    const { id } = await macro('output.n = json.n');
    const { body } = await batch(Array.from({ length: 5_000 }, (_, n) => ({ id: String(n), macro_id: id, data: { n } })));
    expect(body.results).toHaveLength(5_000);
    expect(
      body.results.every((result: { id: string; output: { n: number } }, n: number) => result.id === String(n) && result.output.n === n),
    ).toBe(true);
    expect((await batch(Array.from({ length: 5_001 }, () => ({ id: '', macro_id: id, data: {} })))).status).toBe(400);
  });

  test('a workbook version runs the code that it keeps, also when the macro has changed or is gone', async () => {
    const { id } = await macro('output.v = 1');
    const workbook = (
      await owner()('POST', '/api/v1/workbooks', {
        body: {
          name: 'W',
          organizationId: site.cast.leafLab,
          cells: [{ id: 'm', type: 'macro', payload: { macroId: id, language: 'javascript' } }],
        },
      })
    ).body;
    const experiment = (
      await owner()('POST', '/api/v1/experiments', { body: { name: 'E', organizationId: site.cast.leafLab, workbookId: workbook.id } })
    ).body;
    await owner()('PUT', `/api/v1/macros/${id}`, { body: { code: 'output.v = 2' } });
    const items = [
      { id: 'now', macro_id: id, data: {} },
      { id: 'then', macro_id: id, data: {}, workbook_version_id: experiment.workbookVersionId },
      { id: 'none', macro_id: id, data: {}, workbook_version_id: UNKNOWN },
    ];
    const outputs = async (call = owner()) =>
      (await call('POST', '/api/v1/macros/execute-batch', { body: { items } })).body.results.map(
        ({ output }: { output: unknown }) => output,
      );
    expect(await outputs()).toEqual([{ v: 2 }, { v: 1 }, undefined]);
    expect(await outputs(site.as(site.cast.stranger))).toEqual([undefined, undefined, undefined]);
    await owner()('DELETE', `/api/v1/macros/${id}`);
    expect(await outputs()).toEqual([undefined, { v: 1 }, undefined]);
  });
});

test('readiness details name the level per language', async () => {
  await expect
    .poll(async () => (await detailsOf(site)).macros)
    .toMatchObject({ python: { level: 'embedded' }, javascript: { level: 'embedded' } });
});
