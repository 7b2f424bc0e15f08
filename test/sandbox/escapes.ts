import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MacroLanguage } from '../../src/sandbox/job.ts';

export interface Attempt {
  name: string;
  code: string;
  /** It is safe to see it succeed in a bare interpreter. */
  outside: boolean;
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
    const [, star, name, where] = /^(\* )?(.+?)(?: \| (outside|inside))?$/.exec(parts[index]!)!;
    if (name === 'preamble') preamble = parts[index + 1]!;
    else attempts.push({ name: name!, code: parts[index + 1]!, outside: where === 'outside', always: star !== undefined });
  }
  return { preamble, attempts };
};

const indent = (text: string) => text.replace(/^(?=.)/gm, '  ');

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

/** Runs an attempt in a bare interpreter with a secret in its environment: whether it had its effect, and what it said otherwise. */
export const tryOutside = async (
  language: MacroLanguage,
  preamble: string,
  { code }: Attempt,
  data: object,
): Promise<{ escaped: boolean; complaint: string }> => {
  const input = JSON.stringify(data);
  const commands: Record<MacroLanguage, [string, string[]]> = {
    python: [
      '/usr/bin/python3',
      [
        '-c',
        `import json as J, sys\njson = J.loads(sys.argv[1])\noutput = {}\ndef attempt():\n${indent(preamble + code)}\nattempt()\nsys.exit(0 if output.get('escaped') else 3)`,
        input,
      ],
    ],
    javascript: [
      process.execPath,
      [
        '-e',
        `const json = JSON.parse(process.argv[1]); const output = {}; const ctx = {};\n(function () {\n${preamble}${code}\n})();\nprocess.exit(output.escaped !== undefined ? 0 : 3);`,
        input,
      ],
    ],
    r: [
      '/usr/bin/Rscript',
      [
        '--vanilla',
        '-e',
        `json <- as.list(jsonlite::fromJSON(commandArgs(TRUE)[1])); output <- new.env()\n(function() {\n${preamble}${code}\n})()\nquit(status = if (is.null(output$escaped)) 3 else 0)`,
        input,
      ],
    ],
  };
  const [file, args] = commands[language];
  const child = spawn(file, args, {
    env: { PATH: '/usr/bin:/bin', FIELDLAKE_SECRET: 'sesame', HOME: '/tmp' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 20_000,
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ escaped: code === 0, complaint })));
};
