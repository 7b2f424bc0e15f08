import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readJson } from '../json.ts';
import { OUTPUT_BYTES, START_MS } from './job.ts';

/** How a box is started. `files` are opened for reading as descriptors 3, 4, … of the child. */
export interface Launch {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  identity?: { uid: number; gid: number };
  files: readonly string[];
}

/** Records leave the box as JSON text sequences (RFC 7464): a record separator, JSON, a line feed. Anything else on stdout is noise. */
const SEPARATOR = '\u001e';
/** JSON escapes can blow a permitted output up; beyond this the process is writing garbage. */
const LINE_BYTES = OUTPUT_BYTES * 2 + 1_000_000;

export type BoxRecord = Readonly<Record<string, unknown>>;

const toRecord = (line: string): BoxRecord | undefined => {
  const start = line.lastIndexOf(SEPARATOR);
  if (start < 0) return undefined;
  try {
    const value = readJson(line.slice(start + 1));
    return typeof value === 'object' && value !== null ? (value as BoxRecord) : undefined;
  } catch {
    return undefined;
  }
};

/** One process in its box. Lines are written to it and read from it. `kill` ends it, whatever it does. A process that is not ready in `startMs` is ended. */
export class MacroProcess {
  readonly ready: Promise<void>;
  /** Resolves with the way it ended. */
  readonly ended: Promise<string>;
  /** Whether it can be asked something: it has neither ended nor been told to. */
  alive = true;
  /** Whether it was ended because it wrote more than an item may. */
  flooded = false;
  /** Items it has been given, over all batches. */
  served = 0;
  /** Called with each record, and how many characters it came in. */
  onRecord: (record: BoxRecord, length: number) => void = () => undefined;
  readonly #child: ChildProcess;
  #complaint = '';
  #pieces: string[] = [];
  #pending = 0;

  constructor(launch: Launch, startMs = START_MS) {
    const opened: number[] = [];
    try {
      for (const path of launch.files) opened.push(openSync(path, 'r'));
      this.#child = spawn(launch.file, launch.args, {
        env: { ...launch.env },
        cwd: '/',
        stdio: ['pipe', 'pipe', 'pipe', ...opened],
        // a group of its own, which `kill` ends as a whole: bubblewrap's second process would wait for ever if only the first one ended
        detached: true,
        ...(launch.identity ?? {}),
      });
    } finally {
      for (const descriptor of opened) closeSync(descriptor);
    }
    const { stdin, stdout, stderr } = this.#child;
    let started: () => void = () => undefined;
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#end(resolve, error.message));
      this.#child.once('close', (code, signal) => this.#end(resolve, signal === null ? `exit code ${code ?? 0}` : `killed by ${signal}`));
    });
    this.ready = Promise.race([
      new Promise<void>((resolve) => (started = resolve)),
      this.ended.then((how) => Promise.reject(new Error(`${how}${this.#complaint === '' ? '' : `: ${this.#complaint.trim()}`}`))),
    ]);
    const overdue = setTimeout(() => {
      this.#complaint += `\nIt did not start within ${startMs / 1000} s.`;
      this.kill();
    }, startMs).unref();
    const settled = () => clearTimeout(overdue);
    this.ready.then(settled, settled);
    stdin?.on('error', () => undefined);
    stderr?.setEncoding('utf8').on('data', (text: string) => (this.#complaint = (this.#complaint + text).slice(-2000)));
    stdout?.setEncoding('utf8').on('data', (text: string) =>
      this.#read(text, (record, length) => {
        if (record.ready === true) started();
        else this.onRecord(record, length);
      }),
    );
  }

  send(message: object): void {
    if (this.alive) this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  kill(): void {
    this.onRecord = () => undefined;
    const { pid } = this.#child;
    if (!this.alive || pid === undefined) return;
    this.alive = false;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
  }

  #end(resolve: (how: string) => void, how: string): void {
    this.alive = false;
    resolve(how);
  }

  #read(text: string, deliver: (record: BoxRecord, length: number) => void): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      this.#pieces.push(text.slice(from, to));
      const line = this.#pieces.join('');
      const record = toRecord(line);
      this.#pieces = [];
      this.#pending = 0;
      from = to + 1;
      if (record !== undefined) deliver(record, line.length);
    }
    if (from === text.length) return;
    this.#pieces.push(text.slice(from));
    this.#pending += text.length - from;
    if (this.#pending > LINE_BYTES) {
      this.flooded = true;
      this.#pieces = [];
      this.#pending = 0;
      this.kill();
    }
  }
}
