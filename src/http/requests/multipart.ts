import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import { ApiError, errors } from '../../errors.ts';

export type Part =
  | { kind: 'field'; name: string; value: string }
  /** The body must be read to its end before the next part comes. */
  | { kind: 'file'; name: string; filename: string; body: AsyncIterable<Uint8Array> };

interface MultipartLimits {
  files: number;
  fileBytes: number;
}

const MOST_FIELDS = 20;
const LONGEST_FIELD = 4_096;

const malformed = () => errors.uploadRefused('The multipart body is malformed or ends too early.');

/** The bytes of a file. Errors: 400 where the body ends inside the file. */
async function* readWhole(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* file;
  } catch (error) {
    throw error instanceof ApiError ? error : malformed();
  }
}

/** The parts of a multipart/form-data body in the order in which they were sent, with back-pressure. Errors: 400 malformed, 415 another type. */
export async function* readParts(request: IncomingMessage, limits: MultipartLimits): AsyncGenerator<Part> {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) throw errors.unsupportedMediaType('multipart/form-data');
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) throw errors.unsupportedEncoding('identity');
  const queue: Part[] = [];
  let ended = false;
  let failure: unknown;
  let wake: () => void = () => undefined;
  const notify = () => wake();
  let parser: busboy.Busboy;
  try {
    parser = busboy({
      headers: request.headers,
      preservePath: true,
      defParamCharset: 'utf8',
      limits: { files: limits.files + 1, fields: MOST_FIELDS, fieldSize: LONGEST_FIELD, fileSize: limits.fileBytes + 1, headerPairs: 50 },
    });
  } catch {
    throw errors.uploadRefused('The multipart body has no boundary.');
  }
  const fail = (error: unknown) => {
    failure ??= error;
    notify();
  };
  parser.on('field', (name, value, info) => {
    if (info.valueTruncated || info.nameTruncated) fail(errors.uploadRefused(`The field ${name.slice(0, 64)} is too long.`));
    queue.push({ kind: 'field', name, value });
    notify();
  });
  parser.on('file', (name, body, { filename }) => {
    queue.push({ kind: 'file', name, filename: filename ?? '', body: readWhole(body) });
    body.on('error', () => fail(malformed()));
    notify();
  });
  parser.on('filesLimit', () => fail(errors.uploadRefused(`At most ${limits.files} files fit in one upload.`)));
  parser.on('fieldsLimit', () => fail(errors.uploadRefused('The upload has too many fields.')));
  parser.on('error', () => fail(malformed()));
  parser.on('close', () => {
    ended = true;
    notify();
  });
  request.once('close', () => {
    if (request.complete) return;
    const cut = errors.uploadRefused('The upload was cut off.');
    fail(cut);
    // the reader of a file waits for its next bytes, and only the file can tell it of the cut
    parser.destroy(cut);
  });
  request.pipe(parser);
  try {
    for (;;) {
      const part = queue.shift();
      if (part) yield part;
      else if (failure !== undefined) throw failure instanceof Error ? failure : new Error('multipart failed');
      else if (ended) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    request.unpipe(parser);
    request.resume();
    parser.destroy();
  }
}
