import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { nextLetter } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let folder: string;
beforeAll(async () => {
  site = await startTestServer();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-import-'));
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const bring = (...args: string[]) => runCommand({ url: site.database.url, dataDir: site.dataDir }, 'import', ...args);
const experimentsOf = async () => (await site.as(site.cast.owner)('GET', '/api/v1/experiments', { query: { scope: 'related' } })).body;

const ADDRESS = 'owner@example.com';
const PROJECT = `{
  "experiment": {"name": "Brought over", "description": "From another platform", "locations": [{"name": "Campus", "latitude": 52, "longitude": 5.5}]},
  "protocol": {"name": "Light curve", "code": [{"pulses": [20, 20], "gain": 1.0}]},
  "macro": {"name": "Yield", "language": "javascript", "code": "return { yield: (json.Fm - json.F0) / json.Fm };"},
  "questions": [{"kind": "multi_choice", "text": "Plot", "options": ["a", "b"]}, {"kind": "number", "text": "Height"}]
}`;

test('a project file becomes an experiment with all that belongs to it, once, beside a running server', async () => {
  const owner = site.as(site.cast.owner);
  const path = file('project.json', PROJECT);
  const { code, json, problem } = await bring(path, '--owner', ADDRESS);
  expect(problem).toBe('');
  expect(code).toBe(0);
  expect(json).toEqual({
    success: true,
    experimentId: expect.any(String),
    protocolId: expect.any(String),
    macroId: expect.any(String),
    macroFilename: expect.stringMatching(/^macro_/),
    macroName: 'Yield',
    flowId: expect.any(String),
    workbookId: expect.any(String),
    workbookVersionId: expect.any(String),
    message: "Imported 'Brought over'.",
  });
  const experiment = (await owner('GET', `/api/v1/experiments/${json.experimentId}`)).body;
  expect(experiment).toMatchObject({ name: 'Brought over', workbookVersionId: json.workbookVersionId });
  expect((await owner('GET', `/api/v1/protocols/${json.protocolId}`)).text).toContain('"code":[{"pulses":[20,20],"gain":1.0}]');
  expect((await owner('GET', `/api/v1/workbooks/${json.workbookId}`)).body.cells.map(({ type }: { type: string }) => type)).toEqual([
    'question',
    'question',
    'protocol',
    'macro',
  ]);
  // the letter that the command queued is sent by the server
  const letter = (await nextLetter(site, ADDRESS, 0)).replaceAll(/=\r?\n/g, '');
  expect(letter).toContain('Brought over');
  expect(letter).toContain(`${site.server.baseUrl}/platform/experiments/${json.experimentId}`);
  const again = await bring(path, '--owner', ADDRESS);
  expect(again).toMatchObject({ code: 0, json: { experimentId: json.experimentId, message: 'This file was imported before.' } });
  expect(await experimentsOf()).toHaveLength(1);
});

test('the command lists the projects that people wait for, and no more the one that has come', async () => {
  const asked = { projectIdOld: '1200', projectUrlOld: 'https://other.example/projects/1200' };
  const { status, body } = await site.as(site.cast.owner)('POST', '/api/v1/transfer-requests', { body: asked });
  expect(status).toBe(201);
  expect(await bring('--requests')).toMatchObject({ code: 0, json: [body] });
  const path = file('asked.json', PROJECT.replace('Brought over', 'Asked for').replace('{', '{"projectIdOld": "1200",'));
  expect(await bring(path, '--owner', ADDRESS)).toMatchObject({ code: 0 });
  expect(await bring('--requests')).toMatchObject({ code: 0, json: [] });
});

test('what cannot be imported is refused with the reason, and leaves nothing', async () => {
  const before = await experimentsOf();
  const project = file('other.json', PROJECT.replace('Brought over', 'Other'));
  const refused: [string[], RegExp][] = [
    [[], /^FILE is missing[^]*usage:/],
    [[file('binary.json', Buffer.from([0x7b, 0xff, 0x7d]))], /cannot be read/],
    [[project], /does not name an account[^]* --owner ADDRESS[^]*usage:/],
    [[project, '--owner', 'nobody@example.org'], /no account with that address/],
    [[file('bad.json', PROJECT.replace('"number"', '"slider"')), '--owner', ADDRESS], /questions/],
    [[project, '--owner', ADDRESS, '--force'], /force/],
  ];
  const answers = await Promise.all(refused.map(([args]) => bring(...args)));
  for (const [at, [args, reason]] of refused.entries()) {
    const { code, text, problem } = answers[at]!;
    expect({ args, code, text }).toEqual({ args, code: 1, text: '' });
    expect(problem).toMatch(reason);
    expect(problem).not.toMatch(/\n\s+at /);
  }
  expect(await experimentsOf()).toEqual(before);
  expect(await bring(project, '--owner', ADDRESS)).toMatchObject({ code: 0, json: { success: true } });
});

test('the example of the documentation', async () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'project-import.md'), 'utf8');
  const example = /<!-- example: project -->\n```json\n([^]*?)```/.exec(text)?.[1];
  expect(await bring(file('example.json', example ?? ''), '--owner', ADDRESS)).toMatchObject({
    code: 0,
    json: { message: "Imported 'Shade trial'." },
  });
});
