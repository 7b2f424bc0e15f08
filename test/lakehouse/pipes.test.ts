import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Pipes, type Pipe } from '../../src/lakehouse/engines/duckdb/pipe.ts';

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

function openPipes(): Pipes {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-pipes-'));
  const pipes = new Pipes(folder);
  onTestFinished(async () => {
    await pipes.close();
    rmSync(folder, { recursive: true });
  });
  return pipes;
}

/** Writes to a pipe as an engine does, and says so. */
async function write(pipe: Pipe, content: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', 'printf "%s" "$1" > "$0"', pipe.path, content]);
  pipe.finish();
}

test('pipes that were written to the end are used again, and hold nothing of before', async () => {
  const pipes = openPipes();
  const paths = new Set<string>();
  for (let times = 0; times < 40; times += 1) {
    const pipe = await pipes.open();
    paths.add(pipe.path);
    await write(pipe, `text ${times}`);
    const closed = once(pipe.reader, 'close');
    // every third reader leaves before it has read anything
    if (times % 3 === 0) pipe.reader.destroy();
    else expect(await text(pipe.reader)).toBe(`text ${times}`);
    await closed;
  }
  // sixteen are made at a time
  expect(paths.size).toBeLessThanOrEqual(16);
});

test('a pipe whose writer failed, or came when its reader had left, is not used again', async () => {
  const pipes = openPipes();
  const failed = await pipes.open();
  failed.reader.on('error', () => undefined);
  failed.fail(new Error('disk full'));
  await expect.poll(() => existsSync(failed.path)).toBe(false);

  const left = await pipes.open();
  left.reader.destroy();
  await once(left.reader, 'close');
  left.finish();
  await expect.poll(() => existsSync(left.path)).toBe(false);

  const paths = new Set([failed.path, left.path]);
  expect(paths.size).toBe(2);
  for (let times = 0; times < 30; times += 1) {
    const pipe = await pipes.open();
    pipe.reader.on('error', () => undefined);
    pipe.fail(new Error('disk full'));
    expect(paths.has(pipe.path)).toBe(false);
    paths.add(pipe.path);
  }
});

test('a pipe of which only one end can be opened leaves nothing open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-pipes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const script = 'ulimit -n 200; exec "$0" --input-type=module --eval "$1" "$2" "$3"';
  const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, CROWDED, PIPE, folder]);
  expect(JSON.parse(stdout)).toEqual({ failures: ['EMFILE', 'EMFILE', 'EMFILE'], isFree: true });
});
