/** What the engine says of a statement that does not fit its memory, unless it found no room on the disk to spill. */
const OUT_OF_MEMORY = /^Out of Memory Error(?!.*(No space left on device|Disk quota exceeded|max_temp_directory_size))/s;

/** Whether a statement did not fit the memory of the engine. */
export const isOutOfMemory = (error: unknown): boolean => error instanceof Error && OUT_OF_MEMORY.test(error.message);
