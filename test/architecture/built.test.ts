import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import ts from 'typescript';
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

test('a module is what the compiler prints of the whole program, byte by byte', () => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as { config: unknown };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // one with decorators, one that imports while it runs, one without imports of ours
  const files = ['src/api/data/data.controller.ts', 'src/compose.ts', 'src/json.ts'].map((path) => join(ROOT, path));
  const printed = new Map<string, string>();
  ts.createProgram(files, { ...options, noResolve: true, noLib: true }).emit(undefined, (path, text) =>
    printed.set(relative(ROOT, path), text),
  );
  expect([...printed.keys()].sort()).toEqual(
    ['api/data/data.controller', 'compose', 'json'].flatMap((name) => [`build/src/${name}.js`, `build/src/${name}.js.map`]),
  );
  for (const [path, text] of printed) expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
});

test('the pages are those of production, also when a test run builds them', () => {
  const assets = join(ROOT, 'build', 'web', 'assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(5);
  // a warning that React holds only for development
  const inDevelopment = scripts.filter((name) =>
    readFileSync(join(assets, name), 'utf8').includes('Each child in a list should have a unique'),
  );
  expect(inDevelopment).toEqual([]);
});
