/** COPY over the driver's connection, in both directions, with back-pressure. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';

/** Runs a `copy … to stdout` into a stream, which is left open. */
export const copyRowsOut = (client: pg.ClientBase, text: string, target: Writable): Promise<void> =>
  pipeline(client.query(to(text)), target, { end: false });

export const copyRowsIn = (client: pg.ClientBase, text: string, source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> =>
  pipeline(Readable.from(source, { objectMode: false }), client.query(from(text)));
