import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errors } from '../src/errors.ts';
import { openLog } from '../src/log.ts';

test('a line says of an error what it is and its code, and nothing that the error holds besides', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-log-'));
  const logFile = join(folder, 'log');
  const log = openLog({ logLevel: 'info', logFile });
  const cause = Object.assign(new Error('the socket ended'), { client: { connectionParameters: 'hidden-3' } });
  const error = Object.assign(new Error('the statement failed', { cause }), {
    code: '57014',
    detail: 'hidden-1',
    client: { pool: 'hidden-2' },
  });
  log.warn({ err: error, sent: { code: 'hidden-4' } }, 'something failed');
  log.warn({ err: errors.readTooLarge().with({ cause: error, facts: { path: 'a.parquet' } }) }, 'something failed');
  await expect.poll(() => readFileSync(logFile, 'utf8').split('\n').length).toBe(3);
  const [first, second] = readFileSync(logFile, 'utf8')
    .split('\n')
    .slice(0, 2)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  rmSync(folder, { recursive: true });
  expect(first).toMatchObject({ err: { type: 'Error', message: 'the statement failed: the socket ended', errorCode: '57014' } });
  expect(first?.['sent']).toEqual({ code: '[redacted]' });
  expect(JSON.stringify(first)).not.toContain('hidden');
  expect(Object.keys(first?.['err'] as object).sort()).toEqual(['errorCode', 'message', 'stack', 'type']);
  expect(second?.['err']).toMatchObject({ errorCode: 'READ_TOO_LARGE', facts: { path: 'a.parquet' }, cause: first?.['err'] });
  expect(JSON.stringify(second)).not.toContain('hidden');
});
