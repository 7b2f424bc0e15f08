/** Where a table and its log lie in the lake. */
import { printObjectKey } from '../../../storage/objects.ts';

export const LOG_FOLDER = '_delta_log';

/** The folder of a table: its files, and its log in a folder of its own. */
export const printTableFolder = (experimentId: string, tableId: string): string => printObjectKey('tables', experimentId, tableId);

const numbered = (version: number) => String(version).padStart(20, '0');

export const printEntryKey = (folder: string, version: number): string => `${folder}/${LOG_FOLDER}/${numbered(version)}.json`;

export const printCheckpointKey = (folder: string, version: number): string =>
  `${folder}/${LOG_FOLDER}/${numbered(version)}.checkpoint.parquet`;

/** Says which checkpoint is the last. */
export const printHintKey = (folder: string): string => `${folder}/${LOG_FOLDER}/_last_checkpoint`;
