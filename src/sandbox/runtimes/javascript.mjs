// Runs JavaScript macros in QuickJS: every item in an engine of its own inside one WebAssembly module.
import { readFileSync } from 'node:fs';
import { newQuickJSWASMModule, shouldInterruptAfterDeadline } from 'quickjs-emscripten';
import { lock, reply, serve } from './locked.mjs';

const MEMORY_BYTES = 128 * 1024 * 1024;
// More lets deep recursion reach the stack of the host, which is then lost.
const STACK_BYTES = 128 * 1024;

const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
/** Every item reads this again, so it is kept short. */
const short = (text) => text.replace(/^\s*(?:\/\/.*)?\n?/gm, '');
const PRELUDE = short(source('prelude.js'));
const INTL = short(source('intl.js'));
/** The helpers one by one, in an order in which they can be evaluated. */
const HELPERS = source('helpers.js')
  .split(/\n(?=(?:function|const|var) )/)
  .map((text) => ({ name: /^(?:function|const|var) (\w+)/m.exec(text)?.[1] ?? '', text: short(text) }));
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

/** The engine has no Intl: a macro's formatters are text in, text out over the host's. */
const intl = (request) => {
  const { kind, locales, options, method, args } = JSON.parse(request);
  if (!Object.hasOwn(FORMATTERS, kind) || !METHODS.has(method)) throw new TypeError(`Intl.${kind} has no ${method}`);
  const formatter = new FORMATTERS[kind](locales ?? 'en-US', kind === 'DateTimeFormat' ? { timeZone: 'UTC', ...options } : options);
  return JSON.stringify({ value: formatter[method](...args) ?? null });
};

let engine = await newQuickJSWASMModule();
let worn = false;
let job = { code: '', itemMs: 1000, clock: null, helpers: '', formats: false };

const wrap = (code) => `(function (json, ctx, output, input_data) {\n${code}\n})`;

/** Line and column of the macro's text in a stack trace; the wrapper takes the first line. */
const placeIn = (stack) => {
  const found = /macro\.js:(\d+)(?::(\d+))?/.exec(stack);
  if (found === null) return {};
  const line = Math.min(Number(found[1]) - 1, job.code.split('\n').length);
  return line < 1 ? {} : { line, column: found[2] === undefined ? 1 : Number(found[2]) };
};

const failure = (described) => {
  const { type, message, stack } = described;
  if (type === 'InternalError' && message === 'interrupted') {
    worn = true;
    return { type: 'TimeoutError', message: `The macro ran longer than ${job.itemMs / 1000} s on this item.` };
  }
  if (type === 'InternalError' && /out of memory/.test(message)) {
    worn = true;
    return { type: 'MemoryError', message: 'The macro needs more memory than it may have.', ...placeIn(stack) };
  }
  if (type === 'InternalError' && /stack overflow/.test(message)) worn = true;
  return { type, message, ...placeIn(stack) };
};

class Failed extends Error {
  constructor(described) {
    super(described.message);
    this.described = described;
  }
}

/** An engine for one item. Every handle is kept in a list, because a runtime that is freed before its handles aborts the module. */
class Run {
  #handles = [];

  constructor(deadline) {
    this.deadline = deadline;
    this.runtime = engine.newRuntime();
    this.runtime.setMemoryLimit(MEMORY_BYTES);
    this.runtime.setMaxStackSize(STACK_BYTES);
    this.runtime.setInterruptHandler(shouldInterruptAfterDeadline(deadline));
    this.vm = this.runtime.newContext();
  }

  #keep(handle) {
    this.#handles.push(handle);
    return handle;
  }

  dispose() {
    for (const handle of this.#handles) if (handle.alive) handle.dispose();
    this.vm.dispose();
    this.runtime.dispose();
  }

  /** The value of a result, or its error as a Failed. */
  take(result) {
    if (!result.error) return this.#keep(result.value);
    const { vm } = this;
    const thrown = this.#keep(result.error);
    // What a macro throws may be anything, getters included: it is described inside, with a little time of its own.
    this.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Math.max(this.deadline, Date.now()) + 50));
    const seen = this.describe === undefined ? undefined : vm.callFunction(this.describe, vm.undefined, thrown);
    if (seen !== undefined && !seen.error) throw new Failed(JSON.parse(vm.getString(this.#keep(seen.value))));
    if (seen?.error) this.#keep(seen.error);
    const dumped = vm.dump(thrown);
    throw new Failed({
      type: String(dumped?.name ?? 'Error'),
      message: String(dumped?.message ?? dumped),
      stack: String(dumped?.stack ?? ''),
    });
  }

  call(member, ...args) {
    return this.take(this.vm.callFunction(this.#keep(this.vm.getProp(this.kit, member)), this.vm.undefined, ...args));
  }

  host(name, call) {
    return this.#keep(
      this.vm.newFunction(name, (text) => {
        try {
          return this.vm.newString(call(this.vm.getString(text)));
        } catch (error) {
          return { error: this.vm.newError({ name: error.name ?? 'Error', message: String(error.message) }) };
        }
      }),
    );
  }

  drain() {
    while (this.runtime.hasPendingJob()) {
      const done = this.runtime.executePendingJobs(500);
      if (done.error) this.take(done);
      if (Date.now() > this.deadline) throw new Failed({ type: 'InternalError', message: 'interrupted', stack: '' });
    }
  }

  item(message) {
    const { vm } = this;
    const boot = this.take(vm.evalCode(PRELUDE, 'prelude.js'));
    const clock = job.clock === null ? vm.null : this.#keep(vm.newNumber(job.clock));
    this.kit = this.take(vm.callFunction(boot, vm.undefined, clock));
    this.describe = this.#keep(vm.getProp(this.kit, 'describe'));
    if (job.formats) this.take(vm.callFunction(this.take(vm.evalCode(INTL, 'intl.js')), vm.undefined, this.host('intl', intl)));
    if (job.helpers !== '') this.take(vm.evalCode(job.helpers, 'helpers.js'));
    const opened = this.call('open', this.#keep(vm.newString(JSON.stringify({ data: message.data, ctx: message.ctx }))));
    const macro = this.take(vm.evalCode(wrap(job.code), 'macro.js'));
    let returned = this.call('call', macro, opened);
    this.drain();
    const state = vm.getPromiseState(returned);
    if (state.type === 'rejected') this.take({ error: state.error });
    if (state.type === 'pending')
      throw new Failed({ type: 'OutputError', message: 'The promise that the macro returned never settles.', stack: '' });
    if (!state.notAPromise) returned = this.#keep(state.value);
    return vm.getString(this.call('close', returned, opened));
  }

  logs() {
    return this.kit === undefined ? '[]' : this.vm.getString(this.call('printed'));
  }
}

const runItem = async (message) => {
  if (worn) {
    engine = await newQuickJSWASMModule();
    worn = false;
  }
  const started = performance.now();
  const run = new Run(Date.now() + job.itemMs);
  let answer;
  try {
    const output = run.item(message);
    if (output.length > 10_000_000)
      throw new Failed({ type: 'OutputError', message: 'The output of this item is larger than 10 MB.', stack: '' });
    answer = `"ok":true,"output":${output}`;
  } catch (error) {
    const described = error instanceof Failed ? error.described : { type: 'InternalError', message: String(error.message), stack: '' };
    if (!(error instanceof Failed)) worn = true;
    answer = `"ok":false,"error":${JSON.stringify(failure(described))}`;
  }
  let logs = '[]';
  try {
    logs = run.logs();
  } catch {
    worn = true;
  }
  reply(`{"i":${message.i},${answer},"logs":${logs},"ms":${(performance.now() - started).toFixed(3)}}`);
  if (worn) return;
  try {
    run.dispose();
  } catch {
    worn = true;
  }
};

const check = (code) => {
  job = { ...job, code };
  const run = new Run(Date.now() + 5000);
  try {
    run.take(run.vm.evalCode(wrap(code), 'macro.js', { compileOnly: true }));
    return [];
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { message, line, column } = failure(error.described);
    return [{ line: line ?? 1, column: column ?? 1, message }];
  } finally {
    worn = true;
  }
};

// A worn engine is replaced by a new one out of the same files.
lock(/\/node_modules\/(?:quickjs-emscripten|quickjs-emscripten-core|@jitl)\//);
// The first engine compiles lazily: better now than in the first item.
const first = new Run(Date.now() + 1000);
first.item({ data: null, ctx: {} });
first.dispose();
await serve(async (message) => {
  if (message.op === 'job') {
    job = { ...message, helpers: helpersFor(message.code), formats: /Intl|toLocale|localeCompare/.test(message.code) };
    reply('{"go":true}');
  } else if (message.op === 'item') await runItem(message);
  else if (message.op === 'check') reply(JSON.stringify({ problems: check(message.code) }));
});
