const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
/** Of the engine: what the machine said of a write, and that there is no room left to spill into. */
const SENTENCES = /No space left on device|Disk quota exceeded|max_temp_directory_size/;

/** Whether a write failed because the disk, or this service's share of it, is full. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error && (CODES.includes((error as { code?: unknown }).code) || SENTENCES.test(error.message));
