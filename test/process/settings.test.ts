import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/errors.ts';
import { runCommand } from '../support/command.ts';
import { failing, spawnServer } from '../support/process.ts';

const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'fieldlake-settings-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

const DATABRICKS = { DATABRICKS_HOST: 'x', DATABRICKS_HTTP_PATH: '/sql/1.0/warehouses/a' };

const WRONG: [setting: Record<string, string>, sentence: string][] = [
  [{ PORT: 'eighty' }, 'PORT is not valid: it must be a whole number.'],
  [{ PORT: '8.5' }, 'PORT is not valid: it must be a whole number.'],
  [{ BROKER_PORT: '65536' }, 'BROKER_PORT is not valid: it must be at most 65535.'],
  [{ LAKE_VERSION_DAYS: '0' }, 'LAKE_VERSION_DAYS is not valid: it must be at least 1.'],
  [{ PLACES_KIND: 'osm' }, 'PLACES_KIND is not valid: it must be one of photon, nominatim.'],
  [{ PLACES_URL: 'places' }, 'PLACES_URL is not valid: it must be a URL such as https://field.example.org.'],
  ...(
    [
      ['PORT', ' '],
      ['PORT', '3000\r'],
      ['DATA_DIR', '"/var/lib/fieldlake"'],
      ['DATA_DIR', "'/var/lib/fieldlake'"],
      ['DATA_DIR', '/var/lib/fieldlake\r'],
      ['HOST', ' 127.0.0.1'],
    ] as const
  ).map(([name, value]): (typeof WRONG)[number] => [
    { [name]: value },
    `${name} is not valid: it begins or ends with a blank or the end of a line, or stands in quotes.`,
  ]),
  [
    { BASE_URL: 'https://example.org/lake' },
    'BASE_URL is not valid: it must be an origin such as https://field.example.org, without a path.',
  ],
  [{ BASE_URL: 'https://example.org?a=1' }, 'BASE_URL is not valid: it must be an origin'],
  [{ SMTP_URL: 'https://mail.example.org' }, 'SMTP_URL is not valid: it must be smtp://user:password@host:port.'],
  [{ SMTP_URL: 'smtp://' }, 'SMTP_URL is not valid: it must be smtp://user:password@host:port.'],
  [{ SMTP_URL: 'smtp://user:50%@mail.example.org' }, 'SMTP_URL is not valid: it must be smtp://user:password@host:port.'],
  [{ MAIL_FROM: 'fieldlake' }, 'MAIL_FROM is not valid: it must be an address, or a name and <an address>.'],
  [{ MAIL_FROM: 'a@example.org, b@example.org' }, 'MAIL_FROM is not valid'],
  [{ BROKER_HOSTNAME: 'a b' }, 'BROKER_HOSTNAME is not valid: it must be a host name or an address.'],
  [{ BROKER_HOSTNAME: 'https://broker.example.org' }, 'BROKER_HOSTNAME is not valid'],
  [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL'],
  [{ S3_BUCKET: 'lake' }, 'S3_BUCKET and S3_REGION must be given together'],
  [
    { S3_ACCESS_KEY_ID: 'x', S3_BUCKET: 'lake', S3_REGION: 'eu-central-1' },
    'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be given together',
  ],
  [{ DATABRICKS_HOST: 'x' }, 'DATABRICKS_HOST and DATABRICKS_HTTP_PATH must be given together.'],
  [{ DATABRICKS_HOST: 'https://x/' }, 'DATABRICKS_HOST is not valid: it must be a host name'],
  [{ ...DATABRICKS, DATABRICKS_HOST: 'x:65536' }, 'DATABRICKS_HOST is not valid: its port must be from 1 to 65535'],
  [{ ...DATABRICKS, DATABRICKS_CLIENT_ID: 'a' }, 'DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET must be given together.'],
  [{ ...DATABRICKS, DATABRICKS_TOKEN: 'a' }, 'Databricks reads the lake from a bucket: set S3_BUCKET and S3_REGION, or DATABRICKS_LAKE'],
  [{ ENGINE: 'auto' }, 'ENGINE=auto needs DATABRICKS_HOST, DATABRICKS_HTTP_PATH and credentials.'],
  [DATABRICKS, 'Databricks needs either DATABRICKS_TOKEN or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET.'],
  [{ SAMPLE_DATA: 'maybe' }, 'SAMPLE_DATA is not valid: it must be one of on, off.'],
];

test.each([
  { BASE_URL: 'https://Field.example.org:8443/' },
  { SMTP_URL: 'smtp://mail.example.org' },
  { SMTP_URL: 'smtps://user:a%25b@mail.example.org:465' },
  { MAIL_FROM: 'no-reply@lab.example.org' },
  { MAIL_FROM: '"Lab, Field" <no-reply@lab.example.org>' },
  { BROKER_HOSTNAME: '::1' },
  { BROKER_HOSTNAME: 'field_broker.lan' },
])('%j is taken', (setting) => {
  expect(() => readConfig({ DATA_DIR: folder(), ...setting })).not.toThrow();
});

describe('a wrong setting stops the start with one sentence', () => {
  test.each(WRONG)('%j is refused', (setting, sentence) => {
    const environment = { DATA_DIR: folder() };
    expect(() => readConfig(environment)).not.toThrow();
    const read = () => readConfig({ ...environment, ...setting });
    expect(read).toThrow(StartError);
    expect(read).toThrow(sentence);
    expect(read).not.toThrow(/\n/);
  });

  // one whose value is wrong, and one that is given without its other half: what reads the settings knows no third way to refuse
  test.each([WRONG[0]!, WRONG.at(-2)!])('%j, and nothing else is said', async (setting, sentence) => {
    const { code, text } = await failing({ DATA_DIR: folder(), ...setting });
    expect(code).toBe(1);
    expect(text.trim().split('\n')).toHaveLength(1);
    expect(text).toContain('fieldlake cannot start: ');
    expect(text).toContain(sentence);
  });
});

test('names that look like settings and are none are told with those that may be meant, on the terminal, in the log and by commands', async () => {
  const told =
    'These environment variables look like settings and are none: DATABSE_URL (DATABASE_URL?), S3_BUKET (S3_BUCKET?), SMTP_HOST, log_level (LOG_LEVEL?).';
  const others = { HOSTNAME: 'here', BROWSER: 'x', AWS_REGION: 'x', AWS_SECRET_ACCESS_KEY: 'x', GITHUB_REF: 'x', LOGNAME: 'x', MAILTO: '' };
  const environment = { DATABSE_URL: 'x', S3_BUKET: 'x', SMTP_HOST: 'x', log_level: 'x', PROT: '', ...others };
  const dataDir = folder();
  const log = join(dataDir, 'log');
  const server = await spawnServer({ DATA_DIR: dataDir, LOG_FILE: log, ...environment });
  expect(server.output().split('\n')[0]).toBe(told);
  expect(await runCommand({ dataDir, environment }, 'lake', 'status')).toMatchObject({ code: 0, problem: `${told}\n` });
  await server.kill('SIGTERM');
  // a log on the same terminal does not say it again
  const watched = await spawnServer({ DATA_DIR: dataDir, LOG_FILE: '', ...environment });
  await watched.kill('SIGTERM');
  expect(watched.output().split('DATABSE_URL (')).toHaveLength(2);
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('DATABSE_URL'));
  expect(lines).toEqual([expect.stringContaining('"level":40')]);
  expect(() => readConfig({ DATA_DIR: dataDir, S3_REGION: 'x', S3_BUKET: 'x' })).toThrow(
    /must be given together.* are none: S3_BUKET \(S3_BUCKET\?\)\.$/,
  );
});

/** What is valid as text and leads nowhere. */
const UNUSABLE: [setting: Record<string, string>, sentence: string][] = [
  [
    { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    'DATABASE_URL leads to no database that can be used: connect ECONNREFUSED 127.0.0.1:1.',
  ],
  [{ DATABASE_URL: 'postgres://u:p@127.0.0.1:1,127.0.0.1:2/none' }, 'DATABASE_URL leads to no database that can be used: Invalid URL.'],
  [{ DATA_DIR: import.meta.filename }, 'DATA_DIR'],
  [{ DATA_DIR: import.meta.filename, SECRET: 'a'.repeat(64) }, 'cannot be used by this account: EEXIST'],
  [{ LOG_FILE: import.meta.dirname }, 'LOG_FILE cannot be written: EISDIR'],
  [{ HOST: '192.0.2.1' }, 'cannot be opened on HOST 192.0.2.1: listen EADDRNOTAVAIL'],
];

describe.concurrent('a setting that leads nowhere stops the start with one sentence', () => {
  test.each(UNUSABLE)('%j, and nothing else is said', async (setting, sentence) => {
    const { code, text } = await failing({ DATA_DIR: folder(), BROKER: 'off', ...setting });
    expect(code).toBe(1);
    expect(text.trim().split('\n')).toEqual([expect.stringContaining('fieldlake cannot start: ')]);
    expect(text).toContain(sentence);
  });

  test('a bucket that is not there, which is forgotten: the next start may name another place', async () => {
    const settings = { DATA_DIR: folder(), BROKER: 'off' };
    const s3 = { S3_REGION: 'x', S3_ENDPOINT: 'http://127.0.0.1:1', S3_ACCESS_KEY_ID: 'x', S3_SECRET_ACCESS_KEY: 'x' };
    const { code, text } = await failing({ ...settings, ...s3, S3_BUCKET: 'misspelled' });
    expect(code).toBe(1);
    expect(text.trim().split('\n')).toEqual([expect.stringContaining('The bucket of the lake cannot be written: ')]);
    expect(text).toContain('connect ECONNREFUSED 127.0.0.1:1');
    await (await spawnServer(settings)).kill('SIGTERM');
  });
});
