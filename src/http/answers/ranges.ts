import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { errors } from '../../errors.ts';
import { isUnmodified } from './answers.ts';

/** Bytes that are kept somewhere and do not change. */
export interface KeptFile {
  byteCount: number;
  /** Strong, with its quotes. */
  etag: string;
  contentType: string;
  /** Letters, digits, `_`, `-` and `.` only. */
  fileName: string;
  modifiedAt: Date;
  open(range?: { start: number; end: number }): Promise<AsyncIterable<Uint8Array>>;
}

/** Reads the one range that a Range header asks for; null for the whole file, which is also the answer to several ranges. Errors: rangeNotSatisfiable. */
export function readByteRange(header: string | undefined, byteCount: number): { start: number; end: number } | null {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (!found || (found[1] === '' && found[2] === '')) return null;
  const [first, last] = [found[1] ?? '', found[2] ?? ''];
  const start = first === '' ? Math.max(0, byteCount - Number(last)) : Number(first);
  const end = first === '' || last === '' ? byteCount - 1 : Math.min(Number(last), byteCount - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  if (start >= byteCount || (first === '' && Number(last) === 0))
    throw errors.rangeNotSatisfiable().with({ headers: { 'Content-Range': `bytes */${byteCount}` } });
  return { start, end };
}

/** Sends a kept file, whole or the range that was asked for, or 304. A failure midway closes the connection. */
export async function sendFile(request: Request, response: Response, file: KeptFile): Promise<void> {
  // access is decided anew for every download
  response.setHeader('Cache-Control', 'private, no-cache');
  if (isUnmodified(response, file.etag)) return;
  const isCurrent = request.get('if-range') === undefined || request.get('if-range') === file.etag;
  const range = isCurrent ? readByteRange(request.get('range'), file.byteCount) : null;
  const bytes = request.method === 'HEAD' ? null : await file.open(range ?? undefined);
  response.status(range ? 206 : 200);
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('Last-Modified', file.modifiedAt.toUTCString());
  response.setHeader('Content-Type', file.contentType);
  response.setHeader('Content-Disposition', `attachment; filename="${file.fileName}"`);
  response.setHeader('Content-Length', range ? range.end - range.start + 1 : file.byteCount);
  if (range) response.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${file.byteCount}`);
  if (!bytes) {
    response.end();
    return;
  }
  try {
    await pipeline(Readable.from(bytes, { objectMode: false }), response);
  } catch (error) {
    if (!response.headersSent) throw error;
    response.destroy();
  }
}
