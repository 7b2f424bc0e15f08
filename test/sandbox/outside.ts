import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import { indent } from './escapes.ts';
import type { Attempt } from './escapes.ts';

/** What a frame is to run and what is to be seen of it; `past`, `patience` in milliseconds, `memory`, `written` in bytes. */
export interface Trial {
  file: string;
  args: readonly string[];
  /** Its text, and the name of the file that it is put into. */
  program: string;
  script: string;
  goal: Attempt['goal'];
  past: number;
  patience: number;
  memory: number;
  written: number;
  processes: number;
}

export interface Verdict {
  worked: boolean;
  seen: string;
}

/** Namespaces of its own for everything that could hurt, and the rights of a root in them; whoever is in them ends with the first process. */
const FRAME = ['--user', '--map-root-user', '--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child', '--mount-proc'];
const ROOT = join(import.meta.dirname, '..', '..');

const INTERPRETERS = { python: '/usr/bin/python3', javascript: process.execPath, r: '/usr/bin/Rscript' } as const;

/** Why a language's attempts cannot be seen outside on this machine; undefined where they can. */
export const obstacle = (language: MacroLanguage): string | undefined => {
  if (!existsSync(INTERPRETERS[language])) return `${INTERPRETERS[language]} is not installed`;
  const made = spawnSync('unshare', [...FRAME, '/bin/sh', '-c', 'ip link show lo'], { encoding: 'utf8' });
  return made.status === 0 ? undefined : `no namespaces: ${made.error?.message ?? made.stderr}`;
};

const python = (body: string) => `import json as J, os, sys
json = J.loads(sys.argv[1]); output = {}; ctx = {}
def tell(record): sys.stdout.write('\\x1e' + J.dumps(record, default=str) + '\\n'); sys.stdout.flush()
def attempt():
${indent(body)}
tell({'begun': True})
try: answer = {**output, **(attempt() or {}), **output}
except Exception as error: answer = {'error': repr(error)}
tell(answer)
`;

const javascript = (body: string) => `const { writeSync } = require('fs');
const json = JSON.parse(process.argv[2]); const output = {}; const ctx = {};
const tell = (record) => { const bytes = Buffer.from('\\x1e' + JSON.stringify(record) + '\\n'); for (let at = 0; at < bytes.length; at += writeSync(1, bytes, at, Math.min(65536, bytes.length - at))); };
setInterval(() => undefined, 1000);
tell({ begun: true });
(async () => {
  let answer;
  try { const returned = await (function () {\n${body}\n})(); answer = { ...output, ...returned }; }
  catch (error) { answer = { error: error.name + ': ' + error.message }; }
  tell(answer);
  process.exit(0);
})();
`;

const r = (body: string) => `json <- as.list(jsonlite::fromJSON(commandArgs(TRUE)[1])); output <- new.env(); ctx <- list()
tell <- function(record) { cat(paste0("\\036", jsonlite::toJSON(record, auto_unbox = TRUE, force = TRUE), "\\n")); flush(stdout()) }
tell(list(begun = TRUE))
answer <- tryCatch({ (function() {\n${body}\n})(); as.list(output) }, error = function(error) list(error = conditionMessage(error)))
tell(answer)
`;

/** Python in a Pyodide that is what its package makes it. */
const pyodide = (body: string) => `import { writeSync } from 'node:fs';
const { loadPyodide } = await import(${JSON.stringify(join(ROOT, 'node_modules', 'pyodide', 'pyodide.mjs'))});
const python = await loadPyodide({ args: ['-c', process.argv[2]] });
python.globals.set('say', (text) => { writeSync(1, text); });
python.globals.set('given', process.argv[2]);
await python.runPythonAsync(${JSON.stringify(
  python(body)
    .replace('sys.argv[1]', 'given')
    .replace(/^def tell.*$/m, String.raw`def tell(record): say('\x1e' + J.dumps(record, default=str) + '\n')`),
)});
process.exit(0);
`;

const commandOf = (
  language: MacroLanguage,
  { engine, code }: Attempt,
  preamble: string,
): Pick<Trial, 'file' | 'args' | 'program' | 'script'> => {
  const body = preamble + code;
  const node = { file: process.execPath, args: ['--no-warnings', '--max-old-space-size=12000'] };
  if (engine === 'pyodide') return { ...node, script: 'attempt.mjs', program: pyodide(body) };
  if (language === 'javascript') return { ...node, script: 'attempt.cjs', program: javascript(body) };
  if (language === 'python') return { file: INTERPRETERS.python, args: [], script: 'attempt.py', program: python(body) };
  return { file: INTERPRETERS.r, args: ['--vanilla'], script: 'attempt.R', program: r(body) };
};

/**
 * Tries an attempt in a plain interpreter of its language, contained by nothing, within a frame that is thrown away: whether its goal was seen to be
 * reached. `limits` are what the box would have stopped it at.
 */
export const tryOutside = async (
  language: MacroLanguage,
  preamble: string,
  attempt: Attempt,
  limits: Pick<Trial, 'past' | 'memory' | 'written' | 'processes'>,
): Promise<Verdict> => {
  const trial: Trial = { ...commandOf(language, attempt, preamble), ...limits, goal: attempt.goal, patience: 60_000 };
  const child = spawn('unshare', [...FRAME, process.execPath, join(import.meta.dirname, 'frame.ts'), JSON.stringify(trial)], {
    env: { PATH: '/usr/bin:/bin', FIELDLAKE_SECRET: 'sesame' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  await new Promise((resolve) => child.once('close', resolve));
  return said === '' ? { worked: false, seen: complaint } : (JSON.parse(said) as Verdict);
};
