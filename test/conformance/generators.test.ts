/** Clients made of the published document by other people's generators, which take it without a warning. Needs Python, and the package indexes of both. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { pythonWith } from '../support/python.ts';
import { startTestServer } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENT = join(ROOT, 'src', 'generated', 'openapi.json');
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-generators-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument & { components: { schemas: object } };
const operationIds = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId = '' }) => operationId));

/** Runs a program to its end, which finds the programs of a folder first. */
function run(program: string, args: readonly string[], programs = ''): { status: number | null; said: string } {
  const PATH = [programs, process.env['PATH']].filter(Boolean).join(delimiter);
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64_000_000,
    env: { ...process.env, PATH },
  });
  return { status, said: `${stdout}${stderr}` };
}

test('openapi-typescript: types that the compiler takes, with every operation', () => {
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', 'openapi-typescript@7.13.0', 'typescript@~5.9'], { cwd: folder });
  const { status, said } = run(join(folder, 'node_modules/.bin/openapi-typescript'), [DOCUMENT, '-o', 'types.ts']);
  expect({ status, said }).toEqual({ status: 0, said: expect.not.stringMatching(/warn|⚠|error|✘/i) as string });
  writeFileSync(
    join(folder, 'use.ts'),
    `import type { components, operations } from './types.ts';
export type Rows = operations['readData']['responses']['200']['content']['application/json'][number]['data']['rows'];
export const filter: components['schemas']['DataFilter'] = { column: 'phi2', operator: 'between', value: [0.2, 0.8] };
// @ts-expect-error there is no such operator
export const wrong: components['schemas']['DataFilter'] = { column: 'phi2', operator: 'like', value: '%' };
`,
  );
  const checked = run(process.execPath, [
    join(folder, 'node_modules/typescript/bin/tsc'),
    ...[
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
      '--lib',
      'es2022',
      'types.ts',
      'use.ts',
    ],
  ]);
  expect(checked).toEqual({ status: 0, said: '' });
  const types = readFileSync(join(folder, 'types.ts'), 'utf8');
  expect(operationIds.filter((id) => !types.includes(`operations["${id}"]`))).toEqual([]);
});

test('datamodel-code-generator: pydantic models of every schema', { timeout: 600_000 }, () => {
  const programs = pythonWith('datamodel-code-generator==0.89.0', 'pydantic[email]==2.14.4');
  const { status, said } = run(join(programs, 'datamodel-codegen'), [
    ...['--input', DOCUMENT, '--input-file-type', 'openapi', '--output', 'models.py'],
    ...['--output-model-type', 'pydantic_v2.BaseModel', '--target-python-version', '3.11', '--formatters', 'builtin'],
  ]);
  // our own format `name` is a text to whoever does not know it, and its pattern is kept
  const other = said.replace(/^.*UserWarning: format of 'name' not understood for 'string' - using default\n.*\n/m, '');
  expect({ status, said: other }).toEqual({ status: 0, said: '' });
  const used = `import models
filter = models.DataFilter(column='phi2', operator='between', value=[0.2, 0.8])
assert filter.model_dump(mode='json')['operator'] == 'between'
try:
    models.DataFilter(column='phi2', operator='like', value='%')
except ValueError:
    print(' '.join(name for name in dir(models)))
`;
  writeFileSync(join(folder, 'use.py'), used);
  const names = run(join(programs, 'python'), ['-W', 'error', 'use.py']);
  expect(names.status, names.said).toBe(0);
  const known = new Set(names.said.trim().split(' '));
  expect(Object.keys(document.components.schemas).filter((name) => !known.has(name))).toEqual([]);
});

test(
  'openapi-python-client: a module for every operation, and models that read what an answer holds; files are sent',
  { timeout: 600_000 },
  async () => {
    const programs = pythonWith('openapi-python-client==0.29.1', 'ruff==0.17.6');
    // with a warning it leaves something out
    const { status, said } = run(
      join(programs, 'openapi-python-client'),
      ['generate', '--fail-on-warning', '--path', DOCUMENT, '--output-path', 'client', '--meta', 'none'],
      programs,
    );
    expect({ status, said: said.trim() }).toEqual({ status: 0, said: expect.stringMatching(/^Generating \S+$/) as string });
    const used = `import importlib, pkgutil
import client.api, client.models as models
cell = {'id': 'a', 'type': 'question', 'name': 'Weather', 'question': {'kind': 'multi_choice', 'text': 'How is it?', 'options': ['dry', 'wet']}}
read = models.QuestionCell.from_dict(cell)
assert isinstance(read.question, models.MultiChoiceQuestion) and read.question.options == ['dry', 'wet']
assert read.to_dict() == cell, read.to_dict()
print(' '.join(name.split('.')[-1] for _, name, is_package in pkgutil.walk_packages(client.api.__path__, 'client.api.') if not is_package and importlib.import_module(name)))
`;
    writeFileSync(join(folder, 'use_client.py'), used);
    const names = run(join(programs, 'python'), ['-W', 'error', 'use_client.py']);
    expect(names.status, names.said).toBe(0);
    const known = new Set(names.said.trim().split(' '));
    const snake = (id: string) => id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(operationIds.filter((id) => !known.has(snake(id)))).toEqual([]);
    const site = await startTestServer();
    try {
      const owner = site.as(site.cast.owner);
      const { body: experiment } = await owner('POST', '/api/v1/experiments', { body: { name: 'Sent from Python' } });
      const sending = `import io, sys
from uuid import UUID
from client import AuthenticatedClient
from client.api.uploads_and_exports import upload_files
from client.models import UploadFilesBody, UploadFilesBodySourceKind, UploadFilesBodyTargetKind
from client.types import File
base, key, experiment = sys.argv[1:]
sent = UploadFilesBody(
    source_kind=UploadFilesBodySourceKind.CSV, target_kind=UploadFilesBodyTargetKind.NEW, target_name='plots',
    files=[File(payload=io.BytesIO(text), file_name=name) for name, text in (('a.csv', b'plot,yield\\n1,2.5\\n'), ('b.csv', b'plot,yield\\n2,3.5\\n'))],
)
with AuthenticatedClient(base, key, prefix='', auth_header_name='x-api-key') as client:
    answer = upload_files.sync_detailed(id=UUID(experiment), client=client, body=sent)
print(answer.status_code.value, answer.parsed.file_count)
`;
      writeFileSync(join(folder, 'send.py'), sending);
      const sent = run(join(programs, 'python'), ['-W', 'error', 'send.py', site.server.baseUrl, site.cast.owner.apiKey, experiment.id]);
      expect(sent).toEqual({ status: 0, said: '201 2\n' });
      const read = async () => {
        const query = { tableName: 'plots', columns: 'plot,yield', orderBy: 'plot' };
        const { status, body } = await owner('GET', `/api/v1/experiments/${experiment.id}/data`, { query });
        return status === 200 ? body[0].data.rows : status;
      };
      await expect.poll(read, { timeout: 30_000 }).toEqual([
        { plot: 1, yield: 2.5 },
        { plot: 2, yield: 3.5 },
      ]);
    } finally {
      await site.stop();
    }
  },
);
