/** Every operation of the published document, met by cases that schemathesis makes from it. Needs Python and a package index. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { OpenApiDocument } from '../../../src/contract/operations.ts';
import { grant, makeCast, type Cast } from '../../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../../support/process.ts';
import { pythonWith } from '../../support/python.ts';
import { isWithin, readReport, type Exception, type Outcome } from './report.ts';

const SOAK = process.env['SOAK'] === '1';
const SEED = Number(process.env['SEED'] ?? (SOAK ? Math.floor(Math.random() * 2 ** 31) : 20_261_101));
const LEAST_CASES = SOAK ? 100_000 : 10_000;
/** Cases of each operation and phase. The phase that walks the rules of the schemas adds some of its own. */
const EXAMPLES = Number(process.env['EXAMPLES'] ?? (SOAK ? 120 : 1));

/** What ends an account, a key, a membership or a resource: run last, on a site of its own. */
const ENDING = '^(delete|patch) /|/(sign-out|leave|transfer|transfer-admin|revoke\\S*|delete\\S*|update\\S*|remove\\S*|set-active)$';

const PERSONS = ['owner', 'viewer', 'stranger'] as const;
const exceptions = parse(readFileSync(join(import.meta.dirname, 'exceptions.yaml'), 'utf8')) as Exception[];
const DOCUMENT = join(import.meta.dirname, '../../../src/generated/openapi.json');
const programs = pythonWith('schemathesis==4.32.5');
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-schemathesis-'));

interface Site {
  server: ServerProcess;
  cast: Cast;
  existing: Record<string, string>;
  remove(): Promise<void>;
}

async function openSite(): Promise<Site> {
  const shared = await sharedSite();
  const cast = await makeCast(shared.database.db);
  const server = await spawnServer({ ...shared.environment, LOG_LEVEL: 'error', MACRO_LANGUAGES: 'javascript' });
  const post = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': cast.owner.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${text}`);
    return (JSON.parse(text) as { id: string }).id;
  };
  const organizationId = cast.leafLab;
  const existing: Record<string, string> = {
    organizations: cast.leafLab,
    users: cast.owner.id,
    experiments: await post('experiments', { name: 'Fuzzed', organizationId }),
    macros: await post('macros', { name: 'Fuzzed', language: 'javascript', code: 'return {};', organizationId }),
    protocols: await post('protocols', { name: 'Fuzzed', code: [{}], family: 'multispeq', organizationId }),
    workbooks: await post('workbooks', { name: 'Fuzzed', organizationId }),
    devices: await post('devices', { serialNumber: 'FUZZ-1', deviceType: 'multispeq', organizationId }),
    'device-groups': await post('device-groups', { name: 'Fuzzed', organizationId }),
  };
  await grant(shared.database.db, { id: existing['experiments']!, type: 'experiment' }, { user: cast.viewer.id }, 'viewer');
  return {
    server,
    cast,
    existing,
    remove: async () => {
      await server.kill('SIGTERM');
      await shared.remove();
    },
  };
}

const outcome: Outcome = { cases: new Map(), findings: [], failures: [] };

/** What each person sends: in a short run the owner alone sends every border of every value, some 17,000 cases. */
const phasesOf = (person: (typeof PERSONS)[number]) => (SOAK || person === 'owner' ? 'examples,coverage,fuzzing' : 'examples,fuzzing');

/** Runs the program over the operations that end something, or over the others. */
async function fuzz(site: Site, person: (typeof PERSONS)[number], isEnding: boolean): Promise<void> {
  const report = join(folder, `${person}-${isEnding ? 'ending' : 'rest'}.ndjson`);
  const child = spawn(
    join(programs, 'schemathesis'),
    [
      'run',
      DOCUMENT,
      ...['--url', site.server.baseUrl, '--header', `x-api-key: ${site.cast[person].apiKey}`],
      ...['--checks', 'all', '--phases', phasesOf(person), '--continue-on-failure', '--no-shrink'],
      ...['--seed', String(SEED), '--max-examples', String(EXAMPLES), '--generation-database', 'none', '--workers', '2'],
      ...['--suppress-health-check', 'all', '--warnings', 'off', '--request-timeout', '30'],
      // a stream of events has no end
      ...[isEnding ? '--include-name-regex' : '--exclude-name-regex', isEnding ? `(?i)${ENDING}` : `(?i)${ENDING}|/changes$`],
      ...['--report', 'ndjson', '--report-ndjson-path', report, '--no-color'],
    ],
    {
      cwd: folder,
      env: {
        ...process.env,
        PYTHONPATH: import.meta.dirname,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        EXISTING_IDS: JSON.stringify(site.existing),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-20_000)));
  const [status] = (await once(child, 'exit')) as [number | null];
  // 1 says that checks failed: they are told below
  if (status !== 0 && status !== 1) throw new Error(`schemathesis ended with ${String(status)}: ${text}`);
  await readReport(report, outcome);
}

beforeAll(async () => {
  console.log(`schemathesis: seed ${SEED}`);
  const site = await openSite();
  try {
    for (const person of PERSONS) await fuzz(site, person, false);
  } finally {
    await site.remove();
  }
  for (const person of PERSONS) {
    const own = await openSite();
    try {
      await fuzz(own, person, true);
    } finally {
      await own.remove();
    }
  }
}, 7_200_000);
afterAll(() => {
  if (process.env['KEEP_REPORTS'] === undefined) rmSync(folder, { recursive: true });
  else console.log(`reports: ${folder}`);
});

const { findings } = outcome;

test('every operation keeps to the document, beyond the written exceptions', () => {
  const unwritten = findings.filter((finding) => !exceptions.some((exception) => isWithin(finding, exception)));
  const summary = new Map<string, number>();
  for (const { check, operation, status, code, problems } of unwritten) {
    const line = [check, operation, status, code, ...problems].join(' ');
    summary.set(line, (summary.get(line) ?? 0) + 1);
  }
  const sent = [...outcome.cases.values()].reduce((sum, count) => sum + count, 0);
  console.log(`schemathesis: ${sent} cases, ${findings.length} findings, ${unwritten.length} beyond the exceptions`);
  for (const { operation, message } of outcome.failures) console.log(`schemathesis itself, at ${operation}: ${message.slice(0, 200)}`);
  expect([...summary].map(([line, count]) => `${count} ${line}`).sort()).toEqual([]);
  expect(sent).toBeGreaterThanOrEqual(LEAST_CASES);
});

test('every operation was met', () => {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument;
  const served = Object.entries(paths)
    // a stream of events has no end
    .filter(([path]) => !path.endsWith('/changes'))
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
  expect(served.filter((operation) => (outcome.cases.get(operation) ?? 0) < PERSONS.length)).toEqual([]);
});

test('each written exception has a reason, and in a long run still occurs', () => {
  expect(exceptions.filter(({ reason }) => reason.trim().length < 20)).toEqual([]);
  const past = exceptions.filter((exception) => exception.seldom !== true && !findings.some((finding) => isWithin(finding, exception)));
  expect(SOAK ? past : []).toEqual([]);
});
