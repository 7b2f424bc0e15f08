/** Where a table and its log lie in the lake. */
import { printObjectKey } from '../../../storage/objects.ts';

export const LOG_FOLDER = '_delta_log';

/** Prints the folder of a table. It holds the table's files, and the log in a folder of its own. */
export const printTableFolder = (experimentId: string, tableId: string): string => printObjectKey('tables', experimentId, tableId);

const numbered = (version: number) => String(version).padStart(20, '0');

export const printEntryKey = (folder: string, version: number): string => `${folder}/${LOG_FOLDER}/${numbered(version)}.json`;

export const printCheckpointKey = (folder: string, version: number): string =>
  `${folder}/${LOG_FOLDER}/${numbered(version)}.checkpoint.parquet`;

/** Prints the key of the object that names the newest checkpoint. */
export const printHintKey = (folder: string): string => `${folder}/${LOG_FOLDER}/_last_checkpoint`;
