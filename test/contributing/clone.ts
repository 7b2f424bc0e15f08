import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** How many tests passed, and which did not: the file, the name, and why. */
export interface Ran {
  passed: number;
  failed: string[];
}

export interface Clone {
  folder: string;
  /** Environment of a command in the clone: what `npm run` sets, without what this run of vitest has set for itself. */
  environment: Record<string, string>;
  git(...args: string[]): void;
  /** Runs a script of package.json. Answers its status and what it said. */
  run(...args: string[]): { status: number | null; said: string };
  /** Runs test files. A file that did not run to its end counts as failed by its own name. */
  test(files: readonly string[]): Ran;
  remove(): void;
}

interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

/** A fresh clone of what is checked out here, uncommitted changes included; it borrows the packages that are installed. */
export function makeClone(): Clone {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-clone-'));
  const environment = {
    PATH: `${join(folder, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: process.env['HOME'] ?? '',
  };
  const git = (...args: string[]) =>
    void execFileSync('git', ['-C', folder, '-c', 'user.name=recipes', '-c', 'user.email=recipes@example.org', ...args], { stdio: 'pipe' });
  execFileSync('git', ['clone', '--quiet', '--shared', ROOT, folder], { stdio: 'pipe' });
  const changed = execFileSync('git', ['-C', ROOT, 'diff', '--binary', 'HEAD'], { maxBuffer: 1e9 });
  if (changed.length > 0) {
    execFileSync('git', ['-C', folder, 'apply', '--index'], { input: changed, stdio: ['pipe', 'pipe', 'pipe'] });
    git('commit', '--quiet', '--all', '--message', 'What is not committed yet');
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', ...args], { cwd: folder, env: environment, encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  };
  return {
    folder,
    environment,
    git,
    run,
    test: (files) => {
      const report = join(folder, 'build', 'report.json');
      rmSync(report, { force: true });
      const { said } = run('test:one', '--', ...files, '--reporter=json', `--outputFile=${report}`);
      let parsed: Report;
      try {
        parsed = JSON.parse(readFileSync(report, 'utf8')) as Report;
      } catch (cause) {
        throw new Error(`vitest made no report:\n${said.slice(-4_000)}`, { cause });
      }
      return {
        passed: parsed.numPassedTests,
        failed: parsed.testResults.flatMap(({ name, status, message, assertionResults }) => [
          ...assertionResults
            .filter((each) => each.status === 'failed')
            .map(({ fullName, failureMessages }) => `${relative(folder, name)} > ${fullName}: ${failureMessages[0] ?? ''}`),
          ...(status === 'failed' && assertionResults.length === 0 ? [`${relative(folder, name)}: ${message}`] : []),
        ]),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
