// QuickJS with a memory: the engine is set up once, its state is written down, and every item starts from exactly that.

// Importing a part of Node as a module would load all that it offers.
const { readFileSync } = process.getBuiltinModule('fs');
const { createRequire } = process.getBuiltinModule('module');

// The package's parts are loaded by themselves, which spares a look at all its builds. The code is compiled once for all engines of the process.
const near = createRequire(import.meta.resolve('quickjs-emscripten'));
const { newQuickJSWASMModuleFromVariant, newVariant } = near('quickjs-emscripten-core');
const BUILD = '@jitl/quickjs-wasmfile-release-sync';
const variant = newVariant(near(BUILD).default, { wasmModule: new WebAssembly.Module(readFileSync(near.resolve(`${BUILD}/wasm`))) });

const MEMORY_BYTES = 128 * 1024 * 1024;
// A larger stack lets deep recursion reach the stack of the host, which is then lost.
const STACK_BYTES = 128 * 1024;
const PAGE = 64 * 1024;
const NOTHING = Buffer.alloc(PAGE);
/** More than any hole in the heap, so that an allocation of this size lies behind all that is in use. */
const ROOM = 1024 * 1024;

export class Failed extends Error {
  constructor(described) {
    super(described.message);
    this.described = described;
  }
}

/**
 * One engine. All of its state is the memory of a WebAssembly module: `write` keeps that memory, and `restore` takes it back to that moment. Handles made since
 * then are void and need no disposal.
 */
export class Engine {
  deadline = Infinity;
  describe;
  #module;
  #heapFrom;
  #stackFrom;

  static async start() {
    return new Engine(await newQuickJSWASMModuleFromVariant(variant));
  }

  constructor(module) {
    this.#module = module;
    this.#heapFrom = this.#allocated(1);
    this.#stackFrom = this.#startOfStack();
    this.runtime = module.newRuntime();
    this.runtime.setMemoryLimit(MEMORY_BYTES);
    this.runtime.setMaxStackSize(STACK_BYTES);
    this.runtime.setInterruptHandler(() => Date.now() > this.deadline);
    this.vm = this.runtime.newContext();
  }

  get byteCount() {
    return this.#memory.byteLength;
  }

  get #memory() {
    return new Uint8Array(this.#module.getWasmMemory().buffer);
  }

  #isZero(page) {
    return NOTHING.equals(new Uint8Array(this.#module.getWasmMemory().buffer, page, PAGE));
  }

  /** Where an allocation of this size would lie. */
  #allocated(bytes) {
    const { module } = this.#module;
    const at = module._malloc(bytes);
    if (at === 0) throw new Error('The engine has no memory.');
    module._free(at);
    return at;
  }

  /** Finds where the stack begins. It lies below the heap, and nothing of it is in use between two calls. Below it lies what the program declares. */
  #startOfStack() {
    let from = Math.floor(this.#heapFrom / PAGE) * PAGE;
    while (from > 0 && !this.#isZero(from - PAGE)) from -= PAGE;
    while (from > 0 && this.#isZero(from - PAGE)) from -= PAGE;
    // A page more, for what is declared and still zero.
    return from + PAGE;
  }

  /** Copies the state of this moment. Behind the last allocation lies only memory that the allocator has not given out. */
  write() {
    const end = this.#allocated(ROOM) + 64;
    const parts = [
      [0, this.#stackFrom],
      [this.#heapFrom - 64, end],
    ];
    const memory = this.#memory;
    return { parts: parts.map(([from, to]) => ({ from, bytes: memory.slice(from, to) })), describe: this.describe };
  }

  restore({ parts, describe }) {
    const memory = this.#memory;
    for (const { from, bytes } of parts) memory.set(bytes, from);
    this.describe = describe;
  }

  /** Answers the value of a result, or throws its error as a Failed. */
  take(result) {
    if (!result.error) return result.value;
    const { vm } = this;
    // A macro may throw anything, getters included, so the error is described inside, with a little time of its own.
    this.deadline = Math.max(this.deadline, Date.now()) + 50;
    const seen = this.describe === undefined ? undefined : vm.callFunction(this.describe, vm.undefined, result.error);
    if (seen !== undefined && !seen.error) throw new Failed(JSON.parse(vm.getString(seen.value)));
    const dumped = vm.dump(result.error);
    throw new Failed({
      type: String(dumped?.name ?? 'Error'),
      message: String(dumped?.message ?? dumped),
      stack: String(dumped?.stack ?? ''),
    });
  }

  evaluate(code, name) {
    return this.take(this.vm.evalCode(code, name));
  }

  call(callee, ...args) {
    return this.take(this.vm.callFunction(callee, this.vm.undefined, ...args));
  }

  /** A function of the host that takes and gives text. */
  host(name, call) {
    return this.vm.newFunction(name, (text) => {
      try {
        return this.vm.newString(call(this.vm.getString(text)));
      } catch (error) {
        return { error: this.vm.newError({ name: error.name ?? 'Error', message: String(error.message) }) };
      }
    });
  }

  /** Runs what promises have put off. */
  drain() {
    while (this.runtime.hasPendingJob()) {
      const done = this.runtime.executePendingJobs(500);
      if (done.error) this.take(done);
      if (Date.now() > this.deadline) throw new Failed({ type: 'InternalError', message: 'interrupted', stack: '' });
    }
  }
}
