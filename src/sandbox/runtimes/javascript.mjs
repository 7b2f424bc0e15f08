// Runs JavaScript macros in QuickJS: every item starts from the memory of an engine that has just read the macro.
import { Engine, Failed } from './engine.mjs';
import { lock, reply, serve } from './locked.mjs';

// Importing a part of Node as a module would load all that it offers.
const { readFileSync } = process.getBuiltinModule('fs');

/** How long reading a macro may take; only what is written to run at that time takes long. */
const READ_MS = 2000;

/** Bytes beyond which a worn engine leaves too little of the process's memory for another one beside it. */
const SPARE_BYTES = 256 * 1024 * 1024;

const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const short = (text) => text.replace(/^\s*(?:\/\/.*)?\n?/gm, '');
const PRELUDE = short(source('prelude.js'));
const INTL = short(source('intl.js'));
/** The helpers one by one, in an order in which they can be evaluated. */
const HELPERS = ['helpers.js', 'matrices.js', 'fits.js', 'nonlinear.js', 'curves.js']
  .flatMap((name) => source(name).split(/\n(?=(?:function|var) )/))
  .map((text) => ({ name: /^(?:function|var) (\w+)/m.exec(text)?.[1] ?? '', text: short(text) }));
const mentions = (text, name) => name !== '' && new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(text);

/** The helpers that a macro names, and those that they need. */
const helpersFor = (code) => {
  const needed = new Set();
  const add = (text) => {
    for (const helper of HELPERS) {
      if (needed.has(helper) || !mentions(text, helper.name)) continue;
      needed.add(helper);
      add(helper.text);
    }
  };
  add(code);
  return HELPERS.filter((helper) => needed.has(helper))
    .map(({ text }) => text)
    .join('\n');
};

const FORMATTERS = {
  NumberFormat: Intl.NumberFormat,
  DateTimeFormat: Intl.DateTimeFormat,
  Collator: Intl.Collator,
  PluralRules: Intl.PluralRules,
  ListFormat: Intl.ListFormat,
  RelativeTimeFormat: Intl.RelativeTimeFormat,
};
const METHODS = new Set(['format', 'formatToParts', 'formatRange', 'resolvedOptions', 'compare', 'select']);

/** Formats by the host's Intl, text in and text out, because the engine has none. */
const intl = (request) => {
  const { kind, locales, options, method, args } = JSON.parse(request);
  if (!Object.hasOwn(FORMATTERS, kind) || !METHODS.has(method)) throw new TypeError(`Intl.${kind} has no ${method}`);
  const formatter = new FORMATTERS[kind](locales ?? 'en-US', kind === 'DateTimeFormat' ? { timeZone: 'UTC', ...options } : options);
  return JSON.stringify({ value: formatter[method](...args) ?? null });
};

/** Starts an engine that has read the prelude, and keeps what it was like then. */
const prepare = async () => {
  const engine = await Engine.start();
  const boot = engine.evaluate(PRELUDE, 'prelude.js');
  const askIntl = engine.host('intl', intl);
  return { engine, boot, askIntl, blank: engine.write() };
};

let base = await prepare();
let worn = false;
let job = { code: '', itemMs: 1000, clock: null };
/** The macro in the engine, or why there is none. */
let ready;

const GIVEN = 'json, ctx, output, input_data';
// What `output` is at the end counts as returned. The declaration before it cannot be the body of an `if` or loop that the text leaves open.
const END = 'const __end = true; return output;';
const asParameters = (code) => `(function (${GIVEN}) {\n${code}\n${END}})`;
/** For a macro that declares one of these names itself by `const`, `let` or `class`, which a parameter of that name forbids. */
const asOuterNames = (code) => `(function (${GIVEN}) { return (function () {\n${code}\n${END}})(); })`;
const compile = (engine, text) => engine.take(engine.vm.evalCode(text, 'macro.js', { compileOnly: true }));

/** The macro's text as a function; throws when it is none. */
const wrap = (engine, code) => {
  try {
    compile(engine, asParameters(code));
    return asParameters(code);
  } catch {
    compile(engine, asOuterNames(code));
    return asOuterNames(code);
  }
};

/** Line and column of the macro's text in a stack trace; the wrapper takes the first line, and what stands behind the text counts as its end. */
const placeIn = (stack) => {
  const found = /macro\.js:(\d+)(?::(\d+))?/.exec(stack);
  if (found === null) return {};
  const lines = job.code.split('\n');
  const line = Number(found[1]) - 1;
  if (line > lines.length) return { line: lines.length, column: lines.at(-1).length + 1, isBehind: true };
  return line < 1 ? {} : { line, column: found[2] === undefined ? 1 : Number(found[2]) };
};

const UNBALANCED = 'the brackets of the macro do not match: one is not closed, or is closed twice';

/** Describes an error. After some errors the engine is not to be trusted. */
const failure = (error) => {
  if (!(error instanceof Failed)) {
    worn = true;
    return { type: 'InternalError', message: String(error.message) };
  }
  const { type, message, stack } = error.described;
  const { isBehind = false, ...place } = placeIn(stack);
  if (type === 'InternalError' && message === 'interrupted') {
    worn = true;
    return { type: 'TimeoutError', message: `The macro ran longer than ${job.itemMs / 1000} s on this item.` };
  }
  if (type === 'InternalError' && /out of memory/.test(message)) {
    worn = true;
    return { type: 'MemoryError', message: 'The macro needs more memory than it may have.', ...place };
  }
  if (type === 'InternalError' && /stack overflow/.test(message)) worn = true;
  return {
    type,
    message: type === 'SyntaxError' && isBehind && /^(?:unexpected token|expecting)/.test(message) ? UNBALANCED : message,
    ...place,
  };
};

/** Reads the job's macro into the engine, once for all its items. */
const read = () => {
  const { engine, boot, askIntl, blank } = base;
  const { vm } = engine;
  engine.restore(blank);
  engine.deadline = Date.now() + Math.min(READ_MS, job.itemMs);
  try {
    const kit = engine.call(boot, job.clock === null ? vm.null : vm.newNumber(job.clock));
    engine.describe = vm.getProp(kit, 'describe');
    if (/Intl|toLocale|localeCompare/.test(job.code)) engine.call(engine.evaluate(INTL, 'intl.js'), askIntl);
    const helpers = helpersFor(job.code);
    if (helpers !== '') engine.evaluate(helpers, 'helpers.js');
    const macro = engine.evaluate(wrap(engine, job.code), 'macro.js');
    const [open, call, close, printed] = ['open', 'call', 'close', 'printed'].map((name) => vm.getProp(kit, name));
    ready = { macro, open, call, close, printed, start: engine.write() };
  } catch (error) {
    ready = { refusal: failure(error) };
  }
};

const renew = async () => {
  base = await prepare();
  worn = false;
  // What could not be read is not read again.
  if (ready?.refusal === undefined) read();
};

const seed = () => Math.floor(Math.random() * 2 ** 32);

/** Answers the output of one item as JSON text. The item's message is read inside QuickJS, because Node's own engine misreads some keys that hold an escape. */
const run = (line) => {
  const { engine } = base;
  const { vm } = engine;
  const { macro, open, call, close } = ready;
  const opened = engine.call(open, vm.newString(line), vm.newString(JSON.stringify([seed(), seed(), seed()])));
  let returned = engine.call(call, macro, opened);
  engine.drain();
  const state = vm.getPromiseState(returned);
  if (state.type === 'rejected') engine.take({ error: state.error });
  if (state.type === 'pending')
    throw new Failed({ type: 'OutputError', message: 'The promise that the macro returned never settles.', stack: '' });
  if (!state.notAPromise) returned = state.value;
  const output = vm.getString(engine.call(close, returned, opened));
  if (output.length > 10_000_000)
    throw new Failed({ type: 'OutputError', message: 'The output of this item is larger than 10 MB.', stack: '' });
  return output;
};

const runItem = async ({ i }, line) => {
  if (worn) await renew();
  const started = performance.now();
  const { engine } = base;
  let answer;
  let logs = '[]';
  if (ready.refusal !== undefined) answer = `"ok":false,"error":${JSON.stringify(ready.refusal)}`;
  else {
    engine.restore(ready.start);
    engine.deadline = Date.now() + job.itemMs;
    try {
      answer = `"ok":true,"output":${run(line)}`;
    } catch (error) {
      answer = `"ok":false,"error":${JSON.stringify(failure(error))}`;
    }
    try {
      logs = engine.vm.getString(engine.call(ready.printed));
    } catch {
      worn = true;
    }
  }
  const last = worn && engine.byteCount > SPARE_BYTES ? '"last":true,' : '';
  reply(`{"i":${i},${last}${answer},"logs":${logs},"ms":${(performance.now() - started).toFixed(3)}}`);
};

/** Why code would not start. */
const check = (code) => {
  const { engine, blank } = base;
  job = { ...job, code };
  engine.restore(blank);
  engine.deadline = Date.now() + 5000;
  try {
    wrap(engine, code);
    return [];
  } catch (error) {
    const { message, line, column } = failure(error);
    return [{ line: line ?? 1, column: column ?? 1, message }];
  }
};

// These packages may still be imported, because a worn engine is replaced by a new one out of the same files.
lock(/\/node_modules\/(?:quickjs-emscripten|quickjs-emscripten-core|@jitl)\//);
/** A little of what most macros do. */
const COMMON = `const list = json.list.map((value) => value * 2).filter((value) => value > 1);
let sum = 0;
for (const value of list) sum += value;
for (let at = 0; at < list.length; at += 1) sum -= list[at] ?? 0;
console.log('sum', sum);
output.mean = MathMEAN(list);
return { sum, text: String(sum), rounded: Math.round(sum), ...{ list } };`;
// The engine compiles lazily, so common code runs now, when nobody waits, and not first in an item.
for (let turn = 0; turn < 3 && process.argv[2] === 'ahead'; turn += 1) {
  job = { ...job, code: COMMON };
  read();
  run('{"data":{"list":[1,2,3]},"ctx":{"a":1}}');
}
await serve(async (line) => {
  const message = JSON.parse(line);
  if (message.op === 'job') {
    if (worn) base = await prepare();
    worn = false;
    job = message;
    read();
    reply('{"go":true}');
  } else if (message.op === 'item') await runItem(message, line);
  else if (message.op === 'check') {
    if (worn) base = await prepare();
    worn = false;
    reply(JSON.stringify({ problems: check(message.code) }));
  }
});
