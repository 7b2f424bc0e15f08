/**
 * Stands between a socket and the MQTT parser. It cuts the bytes into packets, refuses a packet that is too large before it is in memory, and bounds the
 * publishes that wait for an answer: a fast device waits in its own TCP window.
 */
import { Duplex } from 'node:stream';

export interface GateLimits {
  /** Bytes of one MQTT packet, header included. */
  packetBytes: number;
  /** Publishes that wait for their durable write at a time. */
  inFlight: number;
  /** Bytes of those publishes together. */
  inFlightBytes: number;
}

const CONNECT = 1;
const PUBLISH = 3;
const DISCONNECT = 14;

/** Why a connection ends whose next packet would not fit. */
export class PacketTooLarge extends Error {
  override name = 'PacketTooLarge';
}

/** Why a connection ends whose next packet says a length of more than four digits: where the packet ends is then unknown. */
export class PacketMalformed extends Error {
  override name = 'PacketMalformed';
}

const NOTHING = Buffer.alloc(0);

/** What one client says at once is no longer than this what all others wait for: 64 kB may hold 32,000 packets that ask for an answer. */
const PACKETS_A_TURN = 64;

type Header = { type: number; remaining: number; total: number } | 'more' | 'malformed';

/** The fixed header of an MQTT packet: type, and a length of up to four 7-bit digits. */
function readHeader(bytes: Buffer): Header {
  let remaining = 0;
  for (let digit = 0; digit < 4; digit++) {
    const value = bytes[digit + 1];
    if (value === undefined) return 'more';
    remaining += (value & 127) * 128 ** digit;
    if (value < 128) return { type: (bytes[0] ?? 0) >> 4, remaining, total: remaining + digit + 2 };
  }
  return 'malformed';
}

export class Gate extends Duplex {
  /** Whether the client has said goodbye (a DISCONNECT packet went through). */
  saidGoodbye = false;
  #socket: Duplex;
  #limits: GateLimits;
  #pending: Buffer = NOTHING;
  #wanted = false;
  #ended = false;
  #stopped = false;
  /** Whether CONNECT has passed, and nothing behind it may until `open()`. */
  #connecting = false;
  #inFlight = 0;
  #inFlightBytes = 0;
  /** Packets that have passed since others had their turn. */
  #passed = 0;

  constructor(socket: Duplex, limits: GateLimits) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#limits = limits;
    socket.on('readable', () => this.#pump());
    socket.on('end', () => {
      this.#ended = true;
      this.#pump();
    });
    socket.on('error', (cause) => this.destroy(cause));
    socket.on('close', () => {
      if (this.#ended) this.#pump();
      else this.destroy();
    });
  }

  /** Lets pass what an admitted client sent behind CONNECT. */
  open(): void {
    this.#connecting = false;
    this.#pump();
  }

  /** Notes that one publish is settled; `remaining` is its packet's length as the parser gives it. */
  settle(remaining: number): void {
    this.#inFlight--;
    this.#inFlightBytes -= remaining;
    this.#pump();
  }

  /** Lets nothing more in; what is in flight may still be answered. */
  stop(): void {
    this.#stopped = true;
  }

  /** Whether a publish is unsettled or an answer not yet handed to the operating system. */
  get busy(): boolean {
    return this.#inFlight > 0 || this.writableLength > 0 || this.#socket.writableLength > 0;
  }

  #closed(): boolean {
    const { inFlight, inFlightBytes } = this.#limits;
    const isFull = this.#inFlight >= inFlight || this.#inFlightBytes >= inFlightBytes;
    return this.#stopped || this.#connecting || isFull || this.#passed >= PACKETS_A_TURN;
  }

  #pump(): void {
    while (this.#wanted && !this.#closed() && !this.destroyed) {
      const header = this.#pending.length > 0 ? readHeader(this.#pending) : 'more';
      if (header === 'malformed' || (header !== 'more' && header.total > this.#limits.packetBytes)) {
        this.destroy(header === 'malformed' ? new PacketMalformed('malformed packet length') : new PacketTooLarge('packet too large'));
        return;
      }
      if (header !== 'more' && this.#pending.length >= header.total) this.#pass(header);
      else if (!this.#fill()) return;
    }
  }

  #pass({ type, remaining, total }: Exclude<Header, string>): void {
    this.#passed++;
    if (this.#passed === PACKETS_A_TURN)
      setImmediate(() => {
        this.#passed = 0;
        this.#pump();
      });
    if (type === CONNECT) this.#connecting = true;
    if (type === DISCONNECT) this.saidGoodbye = true;
    if (type === PUBLISH) {
      this.#inFlight++;
      this.#inFlightBytes += remaining;
    }
    const packet = this.#pending.subarray(0, total);
    // an empty part of it would hold all 64 kB that were read
    this.#pending = this.#pending.length > total ? this.#pending.subarray(total) : NOTHING;
    this.#wanted = this.push(packet);
  }

  #fill(): boolean {
    const chunk = this.#socket.read() as Buffer | null;
    if (chunk) this.#pending = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk;
    else if (this.#ended) {
      this.#wanted = false;
      this.push(null);
    }
    return chunk !== null;
  }

  /** Answers all that has passed, in one piece: the parser reads once per event, and Node would answer one chunk at a time. */
  override read(size?: number): Buffer | null {
    const pieces: Buffer[] = [];
    for (let piece = super.read(size) as Buffer | null; piece; piece = size ? null : (super.read() as Buffer | null)) pieces.push(piece);
    return pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? null);
  }

  override _read(): void {
    this.#wanted = true;
    this.#pump();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (cause?: Error | null) => void): void {
    if (this.#socket.destroyed || !this.#socket.writable) done(new Error('connection closed'));
    else this.#socket.write(chunk, done);
  }

  /** Writes what was corked in one piece: each write is a record of TLS, and an acknowledgement is three small writes. */
  override _writev(chunks: { chunk: Buffer }[], done: (cause?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer' as BufferEncoding, done);
  }

  override _final(done: (cause?: Error | null) => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(cause: Error | null, done: (cause: Error | null) => void): void {
    this.#socket.destroy();
    done(cause);
  }
}
