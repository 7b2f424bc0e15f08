import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import { indent } from './escapes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const RUNTIMES = join(ROOT, 'src', 'sandbox', 'runtimes');

/** What an item does, and the expression by which a later one would notice. */
export interface Trick {
  name: string;
  category: string;
  /** The one level that has what it uses. */
  level?: string;
  act: string;
  probe: string;
}

export const tricksOf = (language: MacroLanguage): { preamble: string; tricks: Trick[] } => {
  const parts = readFileSync(join(ROOT, 'fixtures', 'macros', 'leftovers', `${language}.macro`), 'utf8').split(/^=== (.+)\n/m);
  const tricks: Trick[] = [];
  for (let index = 3; index < parts.length; index += 2) {
    const [, name, category, level] = /^((.+) \d+)(?: \| (\w+))?$/.exec(parts[index]!)!;
    const [act, probe] = parts[index + 1]!.split('\n---\n');
    tricks.push({ name: name!, category: category!, act: act!, probe: probe!.trim(), ...(level === undefined ? {} : { level }) });
  }
  return { preamble: parts[2]!, tricks };
};

/** One function an entry in each language: `json.act` or `json.probe` chooses one by its number. */
export const macroOf = (language: MacroLanguage, preamble: string, tricks: readonly Trick[]): string => {
  if (language === 'python') {
    const acts = tricks.map(({ act }, at) => `def act_${at}():\n${indent(act)}\n`).join('');
    const list = (what: (trick: Trick, at: number) => string) => `[${tricks.map(what).join(', ')}]`;
    return `${preamble}${acts}if 'act' in json: ${list((_, at) => `act_${at}`)}[json['act']]()
elif 'probe' in json:
  try: output['seen'] = repr(${list(({ probe }) => `lambda: ${probe}`)}[json['probe']]())
  except Exception as error: output['seen'] = type(error).__name__`;
  }
  if (language === 'r')
    return `${preamble}
acts <- list(${tricks.map(({ act }) => `function() {\n${act}\n}`).join(',\n')})
probes <- list(${tricks.map(({ probe }) => `function() { ${probe} }`).join(',\n')})
if (is.null(json$probe)) acts[[json$act + 1]]() else output$seen <- tryCatch(deparse(probes[[json$probe + 1]]())[1], error = function(error) 'an error')
invisible(NULL)`;
  return `${preamble}const acts = [${tricks.map(({ act }) => `() => {\n${act}\n}`).join(',\n')}];
const probes = [${tricks.map(({ probe }) => `() => (${probe})`).join(',\n')}];
if ('act' in json) acts[json.act]();
else try { output.seen = String(probes[json.probe]()); } catch (error) { output.seen = String(error.name); }`;
};

const python = (macro: string, count: number) => `import sys, os, json as J, shutil, tempfile
sys.path.insert(0, ${JSON.stringify(RUNTIMES)})
import json as json_module
import numpy as np, pandas as pd, scipy, scipy.stats
from helpers import *
from fits import *
from curves import *
code = compile('def macro(json, output):\\n' + '\\n'.join('  ' + line for line in ${JSON.stringify(macro)}.split('\\n')), 'macro', 'exec')
exec(code)
def told(trick, act):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        say, write, done, remove = J.dumps, os.write, os._exit, shutil.rmtree
        output = {}
        try:
            if act: macro({'act': trick, 'folder': folder}, {})
            macro({'probe': trick, 'folder': folder}, output)
        except BaseException as error: output['seen'] = repr(error)
        try: write(theirs, output['seen'].encode())
        finally:
            try: remove(folder)
            finally: done(0)
    os.close(theirs)
    return os.fdopen(ours, 'rb').read().decode()
print('\\x1e' + J.dumps([[told(trick, False), told(trick, True)] for trick in range(${count})]))
`;

const sourced = (environment: string) =>
  ['helpers.R', 'fits.R', 'curves.R']
    .map((name) => `sys.source(${JSON.stringify(join(RUNTIMES, name))}, envir = ${environment})`)
    .join('\n');

const r = (macro: string, count: number) => `${sourced('globalenv()')}
helpers <- new.env(parent = globalenv())
${sourced('helpers')}
for (name in ls(helpers)) assign(name, get(name, helpers), globalenv())
macro <- eval(parse(text = paste0('function(json, output) {\\n', ${JSON.stringify(macro)}, '\\n}')))
told <- function(trick, act) {
  folder <- tempfile('folder'); dir.create(folder)
  child <- parallel::mcparallel({
    output <- new.env()
    answer <- tryCatch({
      if (act) macro(list(act = trick, folder = folder), new.env())
      macro(list(probe = trick, folder = folder), output)
      output$seen
    }, error = function(error) 'failed')
    answer
  }, mc.set.seed = FALSE)
  seen <- parallel::mccollect(child)[[1]]
  unlink(c(folder, list.files(tempdir(), 'left', full.names = TRUE)), recursive = TRUE)
  if (is.character(seen)) seen else 'gone'
}
cat('\\036', jsonlite::toJSON(lapply(seq_len(${count}) - 1, function(trick) c(told(trick, FALSE), told(trick, TRUE)))))
`;

const javascript = (macro: string, count: number) => `const { readFileSync } = require('fs');
const vm = require('vm');
const helpers = readFileSync(${JSON.stringify(join(RUNTIMES, 'helpers.js'))}, 'utf8');
const told = (trick, act) => {
  const context = vm.createContext({ console });
  vm.runInContext(helpers, context);
  const macro = vm.runInContext('(function (json, output) {\\n' + ${JSON.stringify(macro)} + '\\n})', context);
  const output = {};
  try { if (act) macro({ act: trick }, {}); macro({ probe: trick }, output); } catch (error) { output.seen = String(error); }
  return output.seen;
};
process.stdout.write('\\x1e' + JSON.stringify(Array.from({ length: ${count} }, (_, trick) => [told(trick, false), told(trick, true)])));
`;

const COMMANDS = {
  python: { file: '/usr/bin/python3', script: 'plain.py', program: python },
  r: { file: '/usr/bin/Rscript', script: 'plain.R', program: r },
  javascript: { file: process.execPath, script: 'plain.cjs', program: javascript },
} as const;

/** What a plain interpreter of this machine lacks; undefined when the tricks can be seen to work there. */
export const plainObstacle = (language: MacroLanguage): string | undefined =>
  existsSync(COMMANDS[language].file) ? undefined : `${COMMANDS[language].file} is not installed`;

/** Of each trick what its probe says in an interpreter that nothing was done to, and in one in which it was done: one after the other, nothing between them. */
export const seePlainly = (language: MacroLanguage, macro: string, count: number): [string, string][] => {
  const { file, script, program } = COMMANDS[language];
  const folder = mkdtempSync(join(tmpdir(), 'leftovers-'));
  try {
    const path = join(folder, script);
    writeFileSync(path, program(macro, count));
    const { stdout, stderr } = spawnSync(file, language === 'r' ? ['--vanilla', path] : [path], { encoding: 'utf8', maxBuffer: 1e8 });
    const start = stdout.lastIndexOf('\x1e');
    if (start < 0) throw new Error(`${script} said nothing: ${stderr.slice(-2000)}`);
    return JSON.parse(stdout.slice(start + 1)) as [string, string][];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
