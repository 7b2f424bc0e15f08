import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MacroLanguage } from '../../src/sandbox/job.ts';

/**
 * How an attempt is seen to reach its goal: it says so with evidence, the canary's text comes out, a listener is called, it is still at it long after
 * the limit, it holds more memory than a box has, it starts processes, it writes 100 MB, or it ends its process.
 */
const GOALS = ['says', 'sings', 'calls', 'runs', 'memory', 'processes', 'writes', 'ends'] as const;

export interface Attempt {
  name: string;
  code: string;
  goal: (typeof GOALS)[number];
  /** The plain interpreter is another one than the language's own. */
  engine?: 'pyodide';
  /** No interpreter of the machine has what it uses: it is tried in the box and counts for nothing. */
  absent: boolean;
  /** Part of every test run. */
  always: boolean;
}

const FOLDER = join(import.meta.dirname, '..', '..', 'fixtures', 'macros', 'escapes');

/** The attempts of a language and what stands before each of them. */
export const attemptsOf = (language: MacroLanguage): { preamble: string; attempts: Attempt[] } => {
  const parts = readFileSync(join(FOLDER, `${language}.macro`), 'utf8').split(/^=== (.+)\n/m);
  const attempts: Attempt[] = [];
  let preamble = '';
  for (let index = 1; index < parts.length; index += 2) {
    const [, star, name, goal = 'says', engine] = /^(\* )?(.+?)(?: \|(?: (\w+))??(?: in (pyodide))?)?$/.exec(parts[index]!)!;
    const absent = goal === 'absent';
    if (name === 'preamble') preamble = parts[index + 1]!;
    else {
      const known = absent ? 'says' : GOALS.find((each) => each === goal);
      if (known === undefined) throw new Error(`${language}: ${parts[index]!}: there is no goal ${goal}`);
      const attempt: Attempt = { name: name!, code: parts[index + 1]!, goal: known, absent, always: star !== undefined };
      attempts.push(engine === undefined ? attempt : { ...attempt, engine: 'pyodide' });
    }
  }
  return { preamble, attempts };
};

export const indent = (text: string) => text.replace(/^(?=.)/gm, '  ');

/** One macro of all attempts: `json.attack` chooses, without it the macro does something harmless. */
export const macroOf = (language: MacroLanguage, preamble: string, attempts: readonly Attempt[]): string => {
  if (language === 'python') {
    const functions = attempts.map(({ code }, index) => `def attempt_${index}():\n${indent(preamble + code)}\n`);
    const list = attempts.map((_, index) => `attempt_${index}`).join(', ');
    return `${functions.join('')}if 'attack' in json: return [${list}][json['attack']]()\noutput['fine'] = True`;
  }
  if (language === 'javascript') {
    const functions = attempts.map(({ code }) => `() => {\n${preamble}${code}}`);
    return `const attempts = [${functions.join(',\n')}];\nif ('attack' in json) return attempts[json.attack]();\noutput.fine = true;`;
  }
  const functions = attempts.map(({ code }) => `function() {\n${preamble}${code}\n}`);
  return `attempts <- list(${functions.join(',\n')})\nif (!is.null(json$attack)) { attempts[[json$attack + 1]](); invisible(NULL) } else output$fine <- TRUE`;
};

/** Things outside the box that an attempt may touch. */
export const world = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outside-'));
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, 'canary'), 'the-canary-sings\n');
  const restore = () => writeFileSync(join(folder, 'spare'), '');
  restore();
  let calls = 0;
  const listen = async (server: Server) =>
    new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
  const plain = createServer((socket) => {
    calls += 1;
    socket.on('error', () => undefined).end('hello');
  });
  const http = createHttpServer((_, response) => {
    calls += 1;
    response.end('hello\n');
  });
  const spare = createServer();
  const free = await listen(spare);
  spare.close();
  const victim = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
  const data = { canary: join(folder, 'canary'), folder, port: await listen(plain), http: await listen(http), free, victim: victim.pid! };
  return {
    data,
    restore,
    calls: () => calls,
    files: () => readdirSync(folder).sort(),
    victimLives: () => victim.exitCode === null && victim.signalCode === null,
    close: () => {
      plain.close();
      http.close();
      victim.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
