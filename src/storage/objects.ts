import { errors } from '../errors.ts';

/** What is known of a stored object. */
export interface ObjectFacts {
  key: string;
  byteCount: number;
  modifiedAt: Date;
}

export interface PutOptions {
  /** The most bytes of a body. A longer one ends the write with `errors.payloadTooLarge`, and nothing is left behind. */
  maxBytes?: number;
  /** Expected length, checked when the last byte has arrived. */
  contentLength?: number;
  /** Expected SHA-256, 64 lower-case hex digits, checked when the last byte has arrived. */
  sha256?: string;
  contentType?: string;
  signal?: AbortSignal;
}

/** The length and hash of what was written, as counted while it streamed. */
export interface Stored {
  byteCount: number;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** Bytes `start` to `end`, both included and counted from 0; without `end`, to the last byte. */
export interface ByteRange {
  start: number;
  end?: number;
}

export interface SignPut {
  expiresInSeconds: number;
  contentLength?: number;
  contentType?: string;
  /** 64 lower-case hex digits. */
  sha256?: string;
}

export interface SignedUrl {
  url: string;
  /** Headers to send exactly as they are, or the signature does not hold. */
  headers: Readonly<Record<string, string>>;
  expiresAt: Date;
}

/**
 * Keeps bytes under keys. Keys are ours (`printObjectKey`), never text of a caller. Objects are immutable except by `replace`: a key is written once.
 * Implementations: `folder.ts`, `s3.ts`; both pass `test/contracts/storage.test.ts`.
 */
export interface ObjectStore {
  readonly kind: 'folder' | 's3';
  /** Writes a body as it streams in. Hash, length and limit are checked on the way. On any failure nothing is left under the key. */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /** Writes a small object in one step, unless the key has one already. Answers false then, whoever wrote that one. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes a small object in the place of the one under the key. Only this changes an object. */
  replace(key: string, bytes: Uint8Array): Promise<void>;
  /** Reads an object. Throws `errors.objectNotFound` before the first byte when there is none. */
  get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  head(key: string): Promise<ObjectFacts | undefined>;
  /** Deletes an object. Answers true when there was one. */
  delete(key: string): Promise<boolean>;
  /** Removes everything whose key starts with a prefix that ends with `/`: all versions of objects, and the parts of writes that never ended. */
  erase(prefix: string): Promise<void>;
  /** Lists every object whose key starts with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<ObjectFacts>;
  /** Makes a URL by which one object can be written once, without any other credential. */
  signPut(key: string, options: SignPut): Promise<SignedUrl>;
  /** Fails when the store cannot be reached. Answers the kind of the store. */
  check(): Promise<'folder' | 's3'>;
  close(): Promise<void>;
}

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Joins our own parts into a key, and refuses anything that could leave its folder. */
export function printObjectKey(...segments: readonly string[]): string {
  for (const segment of segments) if (!SEGMENT.test(segment)) throw new Error('an object key segment must be letters, digits, _ . -');
  return segments.join('/');
}

/** Whether every segment of the key is one that `printObjectKey` would take. */
export const isObjectKey = (key: string): boolean => key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment));

export function requireObjectKey(key: string): void {
  if (!isObjectKey(key)) throw errors.objectNotFound();
}

/** Refuses a prefix that `erase` does not take. */
export function requireFolder(prefix: string): void {
  if (!prefix.endsWith('/')) throw errors.objectNotFound();
  requireObjectKey(prefix.slice(0, -1));
}

const readable = (bytes: number) => (bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MiB` : `${bytes} bytes`);

/** Makes the refusal of a body that is too long. */
export const refuseTooLarge = (maxBytes: number) => errors.payloadTooLarge(readable(maxBytes));
