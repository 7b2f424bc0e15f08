// What both Node runtimes share: the line protocol, and taking away from the process what the permission model leaves to it.

// Importing a part of Node as a module would load all that it offers.
const { readSync, writeSync } = process.getBuiltinModule('fs');
const { registerHooks } = process.getBuiltinModule('module');

const SEPARATOR = '\u001e';

// A pipe that is full answers EAGAIN. The process then waits, because there is nothing else to do meanwhile.
const pause = new Int32Array(new SharedArrayBuffer(4));
const writeAll = (bytes) => {
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(1, bytes, from);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
};

const read = (bytes) => {
  for (;;) {
    try {
      return readSync(0, bytes);
    } catch (error) {
      if (error.code === 'EOF') return 0;
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
};

export const reply = (json) => writeAll(Buffer.from(`${SEPARATOR}${json}\n`));

/**
 * Calls `handle` with the JSON text of each message, one after the other, until the input ends. Between two messages there is nothing to do, so this waits for
 * them without an event loop, whose streams take a while to load.
 */
export const serve = async (handle) => {
  const decoder = new TextDecoder();
  const bytes = Buffer.alloc(65536);
  let rest = '';
  reply('{"ready":true}');
  for (let count = read(bytes); count > 0; count = read(bytes)) {
    const lines = (rest + decoder.decode(bytes.subarray(0, count), { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) await handle(line);
  }
};

// Locks the process: nothing more is imported (but by the files that `permitted` matches), and the process object can neither signal nor inspect another
// process.
export const lock = (permitted) => {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (permitted?.test(context.parentURL ?? '')) return next(specifier, context);
      throw new Error(`Importing ${specifier} is refused here.`);
    },
  });
  const kept = new Set([
    'stdin',
    'stdout',
    'stderr',
    'nextTick',
    'emitWarning',
    'hrtime',
    'version',
    'versions',
    'platform',
    'arch',
    'exitCode',
    'release',
    'argv',
    'browser',
  ]);
  const events = new Set(['on', 'once', 'emit', 'off', 'addListener', 'removeListener', 'listenerCount', 'listeners', 'constructor']);
  for (let level = process; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Reflect.ownKeys(level)) {
      if (typeof name === 'symbol' || name.startsWith('_events') || name === '_maxListeners' || kept.has(name) || events.has(name))
        continue;
      const value = name === 'env' || name === 'binding' ? Object.freeze({}) : undefined;
      try {
        Object.defineProperty(level, name, {
          value: name === 'binding' ? () => Object.freeze({}) : value,
          writable: false,
          configurable: false,
        });
      } catch {
        // Some are accessors of the engine that cannot be replaced; none of them acts on anything.
      }
    }
  }
};
