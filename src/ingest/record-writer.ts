import { open, type FileHandle } from 'node:fs/promises';

const FLUSH_AT = 1_048_576;
const ZERO = 0x30;
const DIGITS = 12;

/** Which records of a file are read, and the number that each has in its row id. */
export interface Numbering {
  /**
   * Answers the number of the record that begins at this byte: 12 hex digits, good until the next call. Undefined: the record is passed over. Called once for
   * every record, in order.
   */
  next(byteOffset: number): Buffer | undefined;
}

/** Numbers every record: 0, 1, 2… */
export class HexCounter implements Numbering {
  readonly #digits = Buffer.alloc(DIGITS, ZERO);
  #isFirst = true;

  next(): Buffer {
    if (this.#isFirst) this.#isFirst = false;
    else this.#advance();
    return this.#digits;
  }

  #advance(): void {
    for (let at = DIGITS - 1; at >= 0; at -= 1) {
      const digit = this.#digits[at] ?? ZERO;
      if (digit === 0x66) this.#digits[at] = ZERO;
      else {
        this.#digits[at] = digit === 0x39 ? 0x61 : digit + 1;
        return;
      }
    }
  }
}

/** Takes only records that begin where one was refused before. Each keeps the number that it had then. */
export class RefusedBefore implements Numbering {
  /** Records that were passed over, because none was refused there. */
  passed = 0;
  readonly #rows: ReadonlyMap<number, Buffer>;

  /** Numbers of 12 hex digits by byte offset. */
  constructor(rows: ReadonlyMap<number, string>) {
    this.#rows = new Map([...rows].map(([offset, digits]) => [offset, Buffer.from(digits, 'latin1')]));
  }

  next(byteOffset: number): Buffer | undefined {
    const row = this.#rows.get(byteOffset);
    if (!row) this.passed += 1;
    return row;
  }
}

/** The quote around fields of JSON: `"` is common in JSON, and this character never stands there. */
export const RARE_QUOTE = '\x01';

const NOTHING = Buffer.alloc(0);

/** Buffers of closed files, kept for the next file. New buffers for each file would stay in memory until the garbage collector runs. */
const spare: Buffer[] = [];
const SPARES = 4;
const taken = () => spare.pop() ?? Buffer.allocUnsafeSlow(FLUSH_AT * 2);
const giveBack = (buffer: Buffer) => {
  if (buffer.length === FLUSH_AT * 2 && spare.length < SPARES) spare.push(buffer);
};

/**
 * Reads a file from its beginning to its end, in pieces. It reads the next piece while the caller works on the last one, which holds until the next is asked for:
 * pieces in memory of their own made a garbage collection for every 19 MB.
 */
export class ReadAhead {
  readonly #handle: FileHandle;
  readonly #rooms: readonly [Buffer, Buffer];
  #reads = 0;
  #next: Promise<{ piece: Buffer } | { failed: unknown }> | undefined;

  private constructor(handle: FileHandle, room: number) {
    this.#handle = handle;
    this.#rooms = [Buffer.allocUnsafe(room), Buffer.allocUnsafe(room)];
  }

  static async open(path: string, bytes: number): Promise<ReadAhead> {
    const handle = await open(path, 'r');
    const { size } = await handle.stat();
    return new ReadAhead(handle, Math.max(1, Math.min(bytes, size)));
  }

  async #read(): Promise<{ piece: Buffer } | { failed: unknown }> {
    try {
      const room = this.#rooms[this.#reads++ % 2] ?? NOTHING;
      const { bytesRead } = await this.#handle.read(room, 0, room.length);
      return { piece: room.subarray(0, bytesRead) };
    } catch (failed) {
      return { failed };
    }
  }

  /** The next piece; an empty one at the end. */
  async more(): Promise<Buffer> {
    const read = await (this.#next ?? this.#read());
    if ('failed' in read) throw read.failed as Error;
    this.#next = this.#read();
    return read.piece;
  }

  /** Ends the reading ahead and closes the file. */
  async close(): Promise<void> {
    await this.#next;
    await this.#handle.close();
  }
}

/** Writes a file through two buffers: one is filled while the other is written. However long the file, memory holds only these two. */
export class BufferedFile {
  readonly path: string;
  readonly #handle: FileHandle;
  #buffer: Buffer = taken();
  #other: Buffer = NOTHING;
  #used = 0;
  /** Settles when the other buffer is written, with the error if there was one. */
  #writing: Promise<{ failed?: unknown }> = Promise.resolve({});

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  static async create(path: string): Promise<BufferedFile> {
    return new BufferedFile(path, await open(path, 'wx', 0o600));
  }

  /** Makes room for `bytes` more. The buffer grows until the caller, between records, finds it `full` and awaits `drain`. */
  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#used + bytes));
    this.#buffer.copy(grown, 0, 0, this.#used);
    this.#buffer = grown;
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start);
    // moving a few bytes here is quicker than calling `copy`
    if (end - start > 24) source.copy(this.#buffer, this.#used, start, end);
    else {
      const into = this.#buffer;
      for (let from = start, to = this.#used; from < end; from += 1, to += 1) into[to] = source[from] ?? 0;
    }
    this.#used += end - start;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#used++] = value;
  }

  text(value: string): void {
    this.#reserve(value.length * 3);
    if (value.length > 40 || !this.#ascii(value)) this.#used += this.#buffer.write(value, this.#used, 'utf8');
  }

  /** Puts in a few characters one by one, which is quicker than calling `write`. Answers false, and puts in nothing, when one of them is not ASCII. */
  #ascii(value: string): boolean {
    const into = this.#buffer;
    const from = this.#used;
    for (let at = 0; at < value.length; at += 1) {
      const code = value.charCodeAt(at);
      if (code > 0x7f) return false;
      into[from + at] = code;
    }
    this.#used += value.length;
    return true;
  }

  /** A CSV field in quotes. */
  quoted(value: string): void {
    this.byte(0x22);
    this.text(value.includes('"') ? value.replaceAll('"', '""') : value);
    this.byte(0x22);
  }

  /** A field in `RARE_QUOTE`s. */
  rarelyQuoted(value: string): void {
    this.byte(RARE_QUOTE.charCodeAt(0));
    this.text(value.includes(RARE_QUOTE) ? value.replaceAll(RARE_QUOTE, RARE_QUOTE + RARE_QUOTE) : value);
    this.byte(RARE_QUOTE.charCodeAt(0));
  }

  get full(): boolean {
    return this.#used >= FLUSH_AT;
  }

  /** Begins to write the filled buffer. Throws the error of the write before this one. */
  async drain(): Promise<void> {
    const { failed } = await this.#writing;
    if (failed !== undefined) throw failed as Error;
    const [full, used] = [this.#buffer, this.#used];
    this.#buffer = this.#other.length > 0 ? this.#other : taken();
    this.#other = full;
    this.#used = 0;
    this.#writing = this.#write(full, used).then(
      () => ({}),
      (failed: unknown) => ({ failed }),
    );
  }

  async #write(bytes: Buffer, used: number): Promise<void> {
    let written = 0;
    while (written < used) written += (await this.#handle.write(bytes, written, used - written)).bytesWritten;
  }

  async close(): Promise<void> {
    try {
      const { failed } = await this.#writing;
      if (failed !== undefined) throw failed as Error;
      await this.#write(this.#buffer, this.#used);
    } finally {
      for (const buffer of [this.#buffer, this.#other]) giveBack(buffer);
      this.#buffer = this.#other = NOTHING;
      this.#used = 0;
      await this.#handle.close();
    }
  }
}

export type RefusalReason =
  | 'too_few_fields'
  | 'too_many_fields'
  | 'broken_quotes'
  | 'unclosed_quote'
  | 'record_too_long'
  | 'too_many_members'
  | 'invalid_utf8'
  | 'invalid_characters'
  | 'invalid_json'
  | 'invalid_unicode'
  | 'not_an_object'
  | 'bad_trace';

/** Bytes of a record's original text that are kept at most; all original bytes stay in the object store. */
const KEPT_TEXT = 1_000_000;

/** The list of refused records of one file, in the form that `pipelines/gold/quarantined_records.sql` reads. */
export class Refusals {
  count = 0;
  readonly reasons = new Map<RefusalReason, number>();
  readonly #file: BufferedFile;

  constructor(file: BufferedFile) {
    this.#file = file;
  }

  async add(row: Buffer, place: { line: number; byteOffset: number }, reason: RefusalReason, original: Buffer): Promise<void> {
    this.count += 1;
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    const file = this.#file;
    file.bytes(row);
    file.text(`,${place.line},${place.byteOffset},${reason},`);
    file.quoted(original.subarray(0, KEPT_TEXT).toString('utf8'));
    file.byte(0x0a);
    if (file.full) await file.drain();
  }
}

/** What a reader of records is given. */
export interface FileScan {
  /** The file on this machine. */
  path: string;
  /** Takes the records that can be stored. */
  records: BufferedFile;
  refusals: Refusals;
  numbering: Numbering;
  /** Only the beginning of a file: its last record, which may go on, is passed over. */
  isPart?: boolean;
  /** Bytes of one record at most. */
  maxRecordBytes?: number;
  signal?: AbortSignal;
}

/** A file that cannot be read at all, with the stable word (`reason`) and the sentence for its report. */
export class FileRefused extends Error {
  readonly reason: string;
  constructor(reason: string, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.reason = reason;
  }
}

/** The refusal of a part of a file that holds no whole record. */
export const refuseShortPart = () =>
  new FileRefused('part_too_short', 'The part of the file that was sent ends before its header or its first record does.');
