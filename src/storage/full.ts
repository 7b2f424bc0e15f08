const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS'];
/**
 * Messages of the engine: `IO Error: Could not write file "…": No space left on device`, and that of a spill without room, which begins as `Out of Memory
 * Error`.
 */
const SENTENCES = /No space left on device|Disk quota exceeded|Read-only file system|max_temp_directory_size/;

/** Whether a write failed because the disk, or this service's share of it, is full or may only be read. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error && (CODES.includes((error as { code?: unknown }).code) || SENTENCES.test(error.message));
