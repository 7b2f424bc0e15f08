import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Turns } from '../../../../waiting.ts';
import { FileRefused } from '../../../record-writer.ts';
import type { SheetAnswer, SheetNotes, SheetRequest } from './sheet-thread.ts';

const MIB = 1_048_576;
/** A sheet of a million rows and 20 columns is about 1 GiB of XML, packed to an eighth. A workbook of a few kilobytes may not unpack to that much. */
const mostBytes = (size: number) => Math.min(2_048 * MIB, Math.max(64 * MIB, 50 * size));
const MOST_HELD_BYTES = 128 * MIB;
/** A million texts that cells share take about 300 MiB. */
const MOST_HEAP_MIB = 1_024;

const THREAD = join(import.meta.dirname, `sheet-thread${extname(import.meta.filename)}`);

const tooLarge = () =>
  new FileRefused('unpacks_too_large', 'The workbook unpacks to more than the memory that reading may use. Send it as CSV.');

/** A process reads one workbook at a time, because each may take `MOST_HEAP_MIB` of memory. */
const turns = new Turns();

function run(request: SheetRequest, signal: AbortSignal | undefined): Promise<SheetAnswer> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { workerData: request, resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MIB } });
    const stop = () => {
      void thread.terminate();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
    thread.once('message', resolve);
    thread.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error));
    thread.once('exit', () => {
      signal?.removeEventListener('abort', stop);
      reject(new Error('the thread that reads a workbook ended without an answer'));
    });
  });
}

/**
 * Writes the rows of one sheet of an XLSX workbook as text with semicolons, in a thread of its own: the first sheet that is not hidden, or the one that is
 * named. Days and times become ISO 8601 without an offset, as a sheet has none, and numbers have the decimal mark that is told. Throws FileRefused when the workbook cannot be read.
 */
export async function writeSheetText(
  { original, into, sheet, decimal, headerRow }: Pick<SheetRequest, 'original' | 'into' | 'sheet' | 'decimal' | 'headerRow'>,
  signal?: AbortSignal,
): Promise<SheetNotes> {
  const request: SheetRequest = {
    original,
    into,
    sheet,
    decimal,
    headerRow,
    mostBytes: mostBytes((await stat(original)).size),
    mostHeldBytes: MOST_HELD_BYTES,
  };
  const answer = await turns.take(() => run(request, signal), signal);
  if (answer.refused !== null) throw new FileRefused(answer.refused, answer.sentence);
  return answer;
}
