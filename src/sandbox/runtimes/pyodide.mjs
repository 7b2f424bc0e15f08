// Python macros in Pyodide: CPython compiled to WebAssembly, without numpy, pandas and scipy.
// Neither Python nor JavaScript below it is the wall: the process is.
// `pyodide.mjs make FILE` writes the memory of a Pyodide that is ready for macros; `pyodide.mjs serve FILE` starts from it, in a tenth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { lock, reply, serve } from './locked.mjs';

// The permission model takes process.binding away; Emscripten's file system asks it for constants when it starts.
const CONSTANTS = {
  fs: { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_SYNC: 1052672, O_NOCTTY: 256 },
};
process.binding = () => CONSTANTS;

/** EROFS, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, and what else changes a file or a folder. */
const READ_ONLY = 69;
const WRITING = 1 | 2 | 64 | 512 | 1024;
const CHANGES = [
  'mkdir',
  'mkdirTree',
  'mkdev',
  'mknod',
  'rename',
  'rmdir',
  'unlink',
  'symlink',
  'truncate',
  'ftruncate',
  'chmod',
  'lchmod',
  'fchmod',
  'chown',
  'utime',
  'chdir',
  'mount',
  'unmount',
  'createDataFile',
  'createDevice',
];

const PREPARE = `
import sys
sys.path.insert(0, '/tmp/runtime')
import ast, calendar, collections, datetime, decimal, enum, functools, itertools, json, math, random, re, statistics, string, _strptime
import harness, helpers, fits, curves
sys.path.pop(0)
runner = harness.Runner(helpers, fits, curves)

def serve_line(line):
    message = json.loads(line)
    if message['op'] == 'job':
        runner.job(message)
        return json.dumps({'go': True, 'shared': runner.shared})
    elif message['op'] == 'item':
        if not runner.shared:
            harness.reseed()
        return runner.item(message)
    elif message['op'] == 'check':
        return json.dumps({'problems': runner.check(message['code'])})
    return None
`;

// Takes what leads from Python to JavaScript out of Python's reach. What contains a macro is the process, not this.
const SEPARATE = `
for name in [name for name in sys.modules if name.partition('.')[0] in ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core', '_pyodide_importhook')]:
    del sys.modules[name]
sys.meta_path[:] = [finder for finder in sys.meta_path if 'pyodide' not in type(finder).__module__]
random.seed()
serve_line
`;

/** Refuses to write a file, whoever asks: files are the one thing that a macro could leave outside of Python's memory. */
const refuseWriting = (FS) => {
  const { open } = FS;
  const refuse = () => {
    throw new FS.ErrnoError(READ_ONLY);
  };
  FS.open = (path, flags, mode) => {
    const writes = typeof flags === 'string' ? flags !== 'r' : (flags & WRITING) !== 0;
    return writes ? refuse() : open(path, flags, mode);
  };
  for (const name of CHANGES) FS[name] = refuse;
};

/** The memory of a WebAssembly module, in which all lies that Python keeps. */
class Memory {
  #module;

  constructor(module) {
    this.#module = module;
  }

  write() {
    return this.#module.HEAPU8.slice();
  }

  restore(bytes) {
    const now = this.#module.HEAPU8;
    now.set(bytes);
    now.fill(0, bytes.length);
  }
}

const [action, file] = process.argv.slice(2);
const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const { loadPyodide } = await import('pyodide');
const quiet = { stdout: () => undefined, stderr: () => undefined, env: {}, args: [] };

if (action === 'make') {
  const python = await loadPyodide({ ...quiet, _makeSnapshot: true });
  python.FS.mkdirTree('/tmp/runtime');
  for (const name of ['harness.py', 'helpers.py', 'fits.py', 'curves.py', 'proof.py'])
    python.FS.writeFile(`/tmp/runtime/${name}`, source(name));
  python.runPython(PREPARE);
  writeFileSync(file, python.makeMemorySnapshot());
} else {
  const python = await loadPyodide({ ...quiet, jsglobals: Object.freeze(Object.create(null)), _loadSnapshot: readFileSync(file) });
  const serveLine = python.runPython(SEPARATE);
  refuseWriting(python.FS);
  lock();
  const memory = new Memory(python._module);
  /** Python as it is when it has read a macro whose items must not meet; undefined for other macros, whose items share one Python. */
  let start;
  await serve((line) => {
    const { op } = JSON.parse(line);
    if (start !== undefined) memory.restore(start);
    const answer = serveLine(line);
    if (op === 'job') start = JSON.parse(answer).shared ? undefined : memory.write();
    if (answer !== undefined && answer !== null) reply(answer);
  });
}
