// Evaluated in the engine before a macro: takes away what makes code out of text, gives console and a clock, reads input and writes output.
(function (clock) {
  'use strict';
  const lines = [];
  const LOG_BYTES = 64000;
  const MAX_DEPTH = 100;
  const { stringify, parse } = JSON;
  const { defineProperty, getPrototypeOf, create, freeze, keys, entries, assign } = Object;
  const isArray = Array.isArray;
  const text = String;
  const RealDate = Date;

  for (const make of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    defineProperty(getPrototypeOf(make), 'constructor', { value: undefined, writable: false, configurable: false });
  }
  for (const name of [
    'eval',
    'Function',
    'globalThis',
    'SharedArrayBuffer',
    'Atomics',
    'WeakRef',
    'FinalizationRegistry',
    'gc',
    'std',
    'os',
    'bjson',
  ]) {
    delete this[name];
  }

  let printed = 0;
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    try {
      return typeof value === 'object' && value !== null ? stringify(value) : text(value);
    } catch {
      return text(value);
    }
  };
  const print = (...values) => {
    if (printed > LOG_BYTES) return;
    const line = values.map(show).join(' ');
    printed += line.length + 1;
    lines[lines.length] = printed > LOG_BYTES ? `${line.slice(0, LOG_BYTES - printed + line.length + 1)} … (cut)` : line;
  };
  this.console = freeze({ log: print, info: print, warn: print, error: print, debug: print });

  const now = clock === null ? RealDate.now : () => clock;
  if (clock !== null) {
    const FixedDate = function Date(...parts) {
      if (!new.target) return new RealDate(clock).toString();
      return parts.length === 0 ? new RealDate(clock) : new RealDate(...parts);
    };
    FixedDate.prototype = RealDate.prototype;
    defineProperty(RealDate.prototype, 'constructor', { value: FixedDate });
    assign(FixedDate, { now, parse: RealDate.parse, UTC: RealDate.UTC });
    this.Date = FixedDate;
  }

  // The engine's own would give every item the same numbers: sfc32 of Chris Doty-Humphrey's PractRand, 53 bits of two draws.
  const random = ([a, b, c]) => {
    let count = 1;
    const draw = () => {
      const sum = (a + b + count) | 0;
      count = (count + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum;
      return sum >>> 0;
    };
    for (let turn = 0; turn < 12; turn += 1) draw();
    return () => ((draw() >>> 5) * 67108864 + (draw() >>> 6)) / 9007199254740992;
  };

  class OutputError extends Error {
    get name() {
      return 'OutputError';
    }
  }

  const readOnly = (value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (isArray(value)) return freeze(value.map(readOnly));
    const bare = create(null);
    for (const key of keys(value)) bare[key] = readOnly(value[key]);
    return freeze(bare);
  };

  // JSON has no NaN, no infinities, no big integers: null, null, and a number or its digits.
  const toPlain = (value, path, above) => {
    switch (typeof value) {
      case 'number':
        return value - value === 0 ? value : null;
      case 'bigint':
        return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : text(value);
      case 'undefined':
      case 'function':
      case 'symbol':
        return null;
      case 'string':
      case 'boolean':
        return value;
    }
    if (value === null) return null;
    if (value instanceof RealDate) return value.getTime() - value.getTime() === 0 ? value.toISOString() : null;
    if (above.includes(value)) throw new OutputError(`The output refers to itself at ${path}.`);
    if (above.length >= MAX_DEPTH) throw new OutputError(`The output is nested more than ${MAX_DEPTH} levels deep.`);
    const inside = [...above, value];
    if (isArray(value)) return value.map((entry, index) => toPlain(entry, `${path}[${index}]`, inside));
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return Array.from(value, (entry) => toPlain(entry, path, inside));
    if (value instanceof Set) return Array.from(value, (entry) => toPlain(entry, path, inside));
    if (value instanceof Map) value = Object.fromEntries(Array.from(value, ([key, entry]) => [text(key), entry]));
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    const made = {};
    for (const [key, entry] of entries(value)) {
      if (typeof entry === 'undefined' || typeof entry === 'function' || typeof entry === 'symbol') continue;
      defineProperty(made, key, { value: toPlain(entry, `${path}.${key}`, inside), enumerable: true });
    }
    return made;
  };

  const isObject = (value) =>
    typeof value === 'object' &&
    value !== null &&
    !isArray(value) &&
    !(value instanceof RealDate) &&
    !ArrayBuffer.isView(value) &&
    !(value instanceof Set);

  return {
    open: (message, seeds) => {
      const { data, ctx } = parse(message);
      defineProperty(Math, 'random', { value: random(parse(seeds)) });
      const copy = isArray(data) ? [...data] : typeof data === 'object' && data !== null ? { ...data } : data;
      const opened = { data, copy, ctx: readOnly(ctx), output: {} };
      this.__output = opened.output;
      defineProperty(this, '__output', { enumerable: false, writable: false, configurable: false });
      return opened;
    },
    call: (macro, { data, copy, ctx, output }) => macro(data, ctx, output, copy),
    close: (returned, { output }) => {
      if (returned !== undefined && !isObject(returned))
        throw new OutputError('A macro returns an object, or fills output; put this value under a key.');
      const mine = toPlain(output, 'output', []);
      return stringify(returned === undefined || returned === output ? mine : { ...mine, ...toPlain(returned, 'output', []) });
    },
    describe: (thrown) => {
      if (thrown instanceof Error) return stringify({ type: text(thrown.name), message: text(thrown.message), stack: text(thrown.stack) });
      return stringify({ type: 'Thrown', message: show(thrown) ?? text(thrown), stack: '' });
    },
    printed: () => stringify(lines),
  };
}).bind(this);
