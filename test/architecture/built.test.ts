import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-built-'));
cpSync(join(ROOT, 'build', 'src'), folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the last step of `npm run build` says of a folder. */
const look = () => spawnSync(process.execPath, ['scripts/built.ts', folder], { cwd: ROOT, encoding: 'utf8' });

test('a build in which an import names TypeScript fails, whichever way it imports', () => {
  expect(look()).toMatchObject({ status: 0, stderr: '' });
  const module = join(folder, 'api', 'planted.js');
  for (const text of [
    `import { draw } from '../charts/draw.ts';`,
    `import '../charts/draw.ts';`,
    `export { draw } from '../charts/draw.ts';`,
    `export * from '../charts/draw.mts';`,
    'class Plot {\n  static async draw() { return await import("../charts/draw.ts"); }\n}',
    'const draw = () => import(`../charts/draw.ts`);',
  ]) {
    writeFileSync(module, `// the second line\n${text}\n`);
    const { status, stderr } = look();
    expect({ status, stderr }, text).toEqual({ status: 1, stderr: expect.stringMatching(/planted\.js:[23]: \.\.\/charts\/draw\.m?ts\n$/) });
  }
  // text that only looks like an import is left alone
  writeFileSync(module, `// import('../charts/draw.ts')\nexport const told = "import '../charts/draw.ts'";\n`);
  expect(look()).toMatchObject({ status: 0, stderr: '' });
});
