// What both Node runtimes share: the line protocol, and taking away from the process what the permission model leaves to it.
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

const SEPARATOR = '\u001e';

// A pipe that is full answers EAGAIN; there is nothing else to do meanwhile.
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

export const reply = (json) => writeAll(Buffer.from(`${SEPARATOR}${json}\n`));

/** Calls `handle` with each message, one after the other. */
export const serve = async (handle) => {
  let rest = '';
  process.stdin.setEncoding('utf8');
  reply('{"ready":true}');
  for await (const text of process.stdin) {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) await handle(JSON.parse(line));
  }
};

// After this nothing more is imported (but by the files that `permitted` matches), and the process object can neither signal nor inspect another process.
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
