import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ApiError, errors } from '../errors.ts';
import { Meter } from './metering.ts';
import {
  isObjectKey,
  requireFolder,
  requireObjectKey,
  type ObjectFacts,
  type ObjectStore,
  type PutOptions,
  type Stored,
} from './objects.ts';
import type { S3Settings } from './s3-settings.ts';

const PART_BYTES = 8 * 1_048_576;

const statusOf = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
const isMissing = (error: unknown) => statusOf(error) === 404 || ['NotFound', 'NoSuchKey'].includes((error as Error).name);
const isTaken = (error: unknown) => statusOf(error) === 412 || (error as Error).name === 'PreconditionFailed';

/** Whether another write of the same key was under way (409 ConditionalRequestConflict). That write may have failed, so the store asks to try again. */
const isContended = (error: unknown) => statusOf(error) === 409;
const CONTENDED_TRIES = 5;
const CONTENDED_MS = 50;

/** Milliseconds to wait for a connection, for the beginning of an answer, and for more of an answer that has begun. */
const PATIENCE = { connectionTimeout: 3_000, requestTimeout: 10_000, socketTimeout: 10_000, throwOnRequestTimeout: true };
const TRIES = 2;

/** Says what was asked, and the status, where an answer has no words of S3: each to HEAD that refuses, and those of a proxy. */
function explain(error: unknown, asked: string): unknown {
  if (error instanceof Error && error.message === 'UnknownError')
    error.message = `${asked} was answered with status ${String(statusOf(error))} and without a reason.`;
  return error;
}

/** Turns a failure of the store into one for the caller. The store's own words (host, bucket, request id) are for the log only. */
const away = (error: unknown): ApiError => (error instanceof ApiError ? error : errors.objectsUnavailable().with({ cause: error }));

const answered = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw away(error);
  });

interface Bucket {
  client: S3Client;
  bucket: string;
}

/** Writes a body as it streams in, in parts where it is large. */
async function upload({ client, bucket }: Bucket, key: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<Stored> {
  const meter = new Meter(options);
  const failure = new AbortController();
  const stop = () => failure.abort();
  options.signal?.addEventListener('abort', stop);
  // The upload reads ahead. When the body fails, the upload must fail too, or a part of the body could be completed as an object.
  let broken: unknown;
  const guarded = async function* () {
    try {
      yield* meter.pass(content);
    } catch (error) {
      broken = error;
      throw error;
    }
  };
  const params: PutObjectCommandInput = {
    Bucket: bucket,
    Key: key,
    Body: Readable.from(guarded(), { objectMode: false }),
    ContentType: options.contentType,
    IfNoneMatch: '*',
  };
  const parts = new Upload({ client, params, partSize: PART_BYTES, queueSize: 2, leavePartsOnError: false, abortController: failure });
  try {
    await parts.done();
    return meter.stored;
  } catch (error) {
    await parts.abort().catch(() => undefined);
    options.signal?.throwIfAborted();
    if (broken !== undefined) throw broken as Error;
    throw isTaken(error) ? errors.objectExists() : away(error);
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
}

/** Lists versions and marks of deletion below a prefix, as many as one answer has; of a server that knows no versions, the objects. */
async function listVersions({ client, bucket }: Bucket, Prefix: string): Promise<{ Key?: string; VersionId?: string }[]> {
  const place = { Bucket: bucket, Prefix };
  try {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand(place));
    return [...Versions, ...DeleteMarkers];
  } catch (error) {
    if (statusOf(error) !== 501) throw error;
    return (await client.send(new ListObjectsV2Command(place))).Contents ?? [];
  }
}

/** Removes the uploads and all versions of the objects below a prefix. */
async function eraseBelow({ client, bucket }: Bucket, Prefix: string): Promise<void> {
  const place = { Bucket: bucket, Prefix };
  // uploads go first, so that none of them becomes an object meanwhile
  for (let more = true; more;) {
    const { Uploads = [] } = await answered(client.send(new ListMultipartUploadsCommand(place)));
    for (const { Key, UploadId } of Uploads)
      await answered(client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })));
    more = Uploads.length > 0;
  }
  for (let more = true; more;) {
    const found = await answered(listVersions({ client, bucket }, Prefix));
    for (const { Key, VersionId } of found) await answered(client.send(new DeleteObjectCommand({ Bucket: bucket, Key, VersionId })));
    more = found.length > 0;
  }
}

/** Opens the object store in an S3 bucket. Nothing is sent until the first call. Errors, besides every store's: objectsUnavailable. */
export function openS3Store({ bucket, region, endpoint, forcePathStyle = endpoint !== undefined, credentials }: S3Settings): ObjectStore {
  const client = new S3Client({
    region,
    endpoint,
    forcePathStyle,
    credentials,
    maxAttempts: TRIES,
    requestHandler: PATIENCE,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        try {
          return await next(args);
        } catch (error) {
          throw explain(error, `${String(commandName).replace(/Command$/, '')} of ${(args.input as { Key?: string }).Key ?? 'the bucket'}`);
        }
      },
    { step: 'initialize' },
  );

  const head = async (key: string): Promise<ObjectFacts | undefined> => {
    if (!isObjectKey(key)) return undefined;
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return { key, byteCount: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw away(error);
    }
  };

  const create = async (key: string, bytes: Uint8Array): Promise<boolean> => {
    requireObjectKey(key);
    for (let tries = 1; ; tries += 1) {
      try {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, IfNoneMatch: '*' }));
        return true;
      } catch (error) {
        if (isTaken(error)) return false;
        if (!isContended(error) || tries === CONTENDED_TRIES) throw away(error);
        await sleep(tries * CONTENDED_MS);
      }
    }
  };

  return {
    kind: 's3',
    put: async (key, body, options = {}) => {
      requireObjectKey(key);
      if (await head(key)) throw errors.objectExists();
      return upload({ client, bucket }, key, body, options);
    },
    create,
    replace: async (key, bytes) => {
      requireObjectKey(key);
      await answered(client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes })));
    },
    get: async (key, range) => {
      if (!isObjectKey(key)) throw errors.objectNotFound();
      const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end ?? ''}`;
      try {
        const found = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
        return found.Body as Readable;
      } catch (error) {
        throw isMissing(error) ? errors.objectNotFound() : away(error);
      }
    },
    head,
    delete: async (key) => {
      if (!(await head(key))) return false;
      await answered(client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })));
      return true;
    },
    erase: async (prefix) => {
      requireFolder(prefix);
      await eraseBelow({ client, bucket }, prefix);
    },
    list: async function* (prefix) {
      let token: string | undefined;
      do {
        const page = await answered(client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token })));
        for (const { Key, Size, LastModified } of page.Contents ?? [])
          if (Key !== undefined && isObjectKey(Key)) yield { key: Key, byteCount: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    signPut: async (key, { expiresInSeconds, contentLength, contentType, sha256 }) => {
      requireObjectKey(key);
      const checksum = sha256 === undefined ? undefined : Buffer.from(sha256, 'hex').toString('base64');
      // If-None-Match makes the URL work once: the object that it wrote refuses the next one.
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        ContentLength: contentLength,
        ContentType: contentType,
        ChecksumSHA256: checksum,
        IfNoneMatch: '*',
      });
      const headers: Record<string, string> = { 'if-none-match': '*' };
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (contentType !== undefined) headers['content-type'] = contentType;
      if (checksum !== undefined) headers['x-amz-checksum-sha256'] = checksum;
      const signed = new Set(Object.keys(headers));
      const expiresAt = new Date(Date.now() + expiresInSeconds * 1_000);
      const url = await getSignedUrl(client, command, { expiresIn: expiresInSeconds, signableHeaders: signed, unhoistableHeaders: signed });
      return { url, headers, expiresAt };
    },
    check: async () => {
      // an answer to HEAD has no words that say why it was refused
      await answered(client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 })));
      // the object is made once; later tries make no version, and are refused all the same where nothing may be written
      await create('writable', Buffer.from('1'));
      return 's3';
    },
    close: async () => client.destroy(),
  };
}
