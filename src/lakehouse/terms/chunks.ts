import { Readable } from 'node:stream';

/** Streams bytes that are made of a source. Destroying the stream destroys the source; a failure of the source destroys the stream. */
export const streamChunks = (chunks: AsyncIterable<Buffer>, source: Readable): Readable => {
  const body = Readable.from(chunks, { objectMode: false });
  body.once('close', () => source.destroy());
  return body;
};
