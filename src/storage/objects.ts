import { errors } from '../errors.ts';

/** What is known of a stored object. */
export interface ObjectFacts {
  key: string;
  byteCount: number;
  modifiedAt: Date;
}

export interface PutOptions {
  /** More bytes than this end the write with `errors.payloadTooLarge`; nothing is left behind. */
  maxBytes?: number;
  /** Expected length, checked when the last byte has arrived. */
  contentLength?: number;
  /** Expected SHA-256, 64 lower-case hex digits, checked when the last byte has arrived. */
  sha256?: string;
  contentType?: string;
  signal?: AbortSignal;
}

/** What was written, as counted while it streamed. */
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
  /** To be sent exactly as they are, or the signature does not hold. */
  headers: Readonly<Record<string, string>>;
  expiresAt: Date;
}

/**
 * Where bytes are kept. Keys are ours (`objectKey`), never text of a caller. Objects are immutable but for `replace`: a key is written once.
 * Implementations: `folder.ts`, `s3.ts`; both pass `test/contracts/storage.test.ts`.
 */
export interface ObjectStore {
  readonly kind: 'folder' | 's3';
  /** Streams a body in; hash, length and limit are checked on the way. On any failure nothing is left under the key. */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /** Writes a small object in one step that makes it or does nothing: false when there is one under the key, whoever wrote it. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes a small object in the place of what is there; the only way to change one. */
  replace(key: string, bytes: Uint8Array): Promise<void>;
  /** Throws `errors.objectNotFound` before the first byte when there is no such object. */
  get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  head(key: string): Promise<ObjectFacts | undefined>;
  /** True when there was something to delete. */
  delete(key: string): Promise<boolean>;
  /** Removes everything whose key starts with a prefix that ends with `/`: every version of it, and what writes left that were never ended. */
  erase(prefix: string): Promise<void>;
  /** Every object whose key starts with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<ObjectFacts>;
  /** A URL by which one object can be written once, without any other credential. */
  signPut(key: string, options: SignPut): Promise<SignedUrl>;
  /** A URL by which one object can be read until it expires. */
  signGet(key: string, options: { expiresInSeconds: number }): Promise<SignedUrl>;
  /** Fails when the store cannot be reached; answers what it is. */
  check(): Promise<'folder' | 's3'>;
  close(): Promise<void>;
}

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Joins parts of ours into a key and refuses anything that could leave its folder. */
export function printObjectKey(...segments: readonly string[]): string {
  for (const segment of segments) if (!SEGMENT.test(segment)) throw new Error('an object key segment must be letters, digits, _ . -');
  return segments.join('/');
}

/** True when every segment of the key is one that `objectKey` would make. */
export const isObjectKey = (key: string): boolean => key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment));

export function requireObjectKey(key: string): void {
  if (!isObjectKey(key)) throw errors.objectNotFound();
}

/** A prefix that `erase` takes. */
export function requireFolder(prefix: string): void {
  if (!prefix.endsWith('/')) throw errors.objectNotFound();
  requireObjectKey(prefix.slice(0, -1));
}

const readable = (bytes: number) => (bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MiB` : `${bytes} bytes`);

/** The refusal of a body that is longer than it may be. */
export const refuseTooLarge = (maxBytes: number) => errors.payloadTooLarge(readable(maxBytes));
