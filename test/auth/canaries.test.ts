import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetSecrets, searchLogs } from '../support/canaries.ts';

test('the search of the logs finds a secret wherever it stands, and takes no number for a code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-canaries-'));
  const [logs, secrets] = [join(folder, 'logs'), join(folder, 'secrets.txt')];
  forgetSecrets(logs, secrets);
  const token = randomBytes(32).toString('base64url');
  writeFileSync(secrets, `${token}\n274831\n`);
  const innocent = ['{"route":"/api/v1/experiments","milliseconds":274831,"size":274831}', '{"msg":"ready"}'];
  writeFileSync(join(logs, 'a.log'), `${innocent.join('\n')}\n`);
  expect(searchLogs(logs, secrets)).toEqual({ secrets: 2, lines: 2, leaks: [] });
  const leaky = [
    `{"url":"/objects/x?expires=1&signature=${token}"}`,
    `{"headers":{"cookie":"session=${token}; other=1"}}`,
    `{"err":{"message":"key ${token} refused"}}`,
    '{"msg":"your code is 274831"}',
    '{"body":{"otp":"274831"}}',
  ];
  writeFileSync(join(logs, 'b.log'), `${leaky.join('\n')}\n`);
  expect(searchLogs(logs, secrets).leaks).toEqual(leaky);
  rmSync(folder, { recursive: true, force: true });
});
