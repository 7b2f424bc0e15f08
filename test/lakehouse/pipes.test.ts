import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const PIPE = join(import.meta.dirname, '../../src/lakehouse/engines/duckdb/pipe.ts');

/** Opens pipes in a process that has only one descriptor left, where each needs two. */
const CROWDED = `
  import { closeSync, openSync } from 'node:fs';
  const { Pipes } = await import(process.argv[1]);
  const pipes = new Pipes(process.argv[2]);
  const open = async () => {
    const { reader, finish } = await pipes.open();
    finish();
    reader.destroy();
  };
  await open();
  const held = [];
  const take = () => {
    try {
      held.push(openSync('/dev/null'));
      return true;
    } catch {
      return false;
    }
  };
  while (take());
  closeSync(held.pop());
  const failures = [];
  for (let times = 0; times < 3; times += 1) await open().catch((error) => failures.push(error.code));
  const isFree = take();
  for (const each of held) closeSync(each);
  await open();
  console.log(JSON.stringify({ failures, isFree }));
`;

test('a pipe of which only one end can be opened leaves nothing open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-pipes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const script = 'ulimit -n 200; exec "$0" --input-type=module --eval "$1" "$2" "$3"';
  const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, CROWDED, PIPE, folder]);
  expect(JSON.parse(stdout)).toEqual({ failures: ['EMFILE', 'EMFILE', 'EMFILE'], isFree: true });
});
