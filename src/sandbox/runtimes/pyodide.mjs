// Python macros in Pyodide: CPython compiled to WebAssembly, without numpy, pandas and scipy. Neither it nor JavaScript below it is the wall: the process is.
// `pyodide.mjs make FILE` writes the memory of a Pyodide that is ready for macros; `pyodide.mjs serve FILE` starts from it, in a tenth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { lock, reply, serve } from './locked.mjs';

// The permission model takes process.binding away; Emscripten's file system asks it for constants when it starts.
const CONSTANTS = {
  fs: { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_SYNC: 1052672, O_NOCTTY: 256 },
};
process.binding = () => CONSTANTS;

const PREPARE = `
import sys
sys.path.insert(0, '/tmp/runtime')
import ast, calendar, collections, datetime, decimal, enum, functools, itertools, json, math, random, re, statistics, string, _strptime
import harness, helpers
sys.path.pop(0)
runner = harness.Runner(helpers)

def serve_line(line):
    message = json.loads(line)
    if message['op'] == 'job':
        runner.job(message)
        return '{"go":true}'
    elif message['op'] == 'item':
        return runner.item(message)
    elif message['op'] == 'check':
        return json.dumps({'problems': runner.check(message['code'])})
    return None
`;

// What leads from Python to JavaScript is taken out of its reach; it is not what contains a macro.
const SEPARATE = `
for name in [name for name in sys.modules if name.partition('.')[0] in ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core', '_pyodide_importhook')]:
    del sys.modules[name]
sys.meta_path[:] = [finder for finder in sys.meta_path if 'pyodide' not in type(finder).__module__]
random.seed()
serve_line
`;

const [action, file] = process.argv.slice(2);
const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const { loadPyodide } = await import('pyodide');
const quiet = { stdout: () => undefined, stderr: () => undefined, env: {}, args: [] };

if (action === 'make') {
  const python = await loadPyodide({ ...quiet, _makeSnapshot: true });
  python.FS.mkdirTree('/tmp/runtime');
  for (const name of ['harness.py', 'helpers.py']) python.FS.writeFile(`/tmp/runtime/${name}`, source(name));
  python.runPython(PREPARE);
  writeFileSync(file, python.makeMemorySnapshot());
} else {
  const python = await loadPyodide({ ...quiet, jsglobals: Object.freeze(Object.create(null)), _loadSnapshot: readFileSync(file) });
  const serveLine = python.runPython(SEPARATE);
  lock();
  await serve((line) => {
    const answer = serveLine(line);
    if (answer !== undefined && answer !== null) reply(answer);
  });
}
