import type { Context } from '../../context.ts';
import { readMeasured } from '../../ingest/messages/measured.ts';
import { isOutOfMemory } from '../../lakehouse/terms/memory.ts';
import type { Work } from './macro-runs.queries.ts';
import { listElements, type Element } from './running.ts';

/** How often one measurement is tried that does not fit the memory of the engine, of which others may have had a part. */
const MEMORY_TRIES = 3;
const NEVER_FITS = 'This measurement takes more memory than reading may use; the macro was not run on it.';

/**
 * Reads the measurements of a piece as what is run. Undefined when they do not fit the memory of the engine together. One that never fits alone has an error
 * in place of its sample.
 */
export async function readElements(ctx: Context, piece: Work, signal: AbortSignal): Promise<Element[] | undefined> {
  const { experimentId, rowIds: ids, from, to, tries } = piece;
  const read = (withoutContent: boolean) => readMeasured(ctx, experimentId, { ids, from, to }, { signal, withoutContent });
  try {
    return (await read(false)).flatMap(listElements);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    if (ids.length > 1) return undefined;
    if (tries < MEMORY_TRIES) throw error;
    return (await read(true)).map((row) => ({ row, index: 0, byteCount: 0, error: NEVER_FITS }));
  }
}
