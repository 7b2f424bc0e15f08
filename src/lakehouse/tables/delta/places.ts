/** Where a table and its log lie in the lake. */
import { printObjectKey } from '../../../storage/objects.ts';

const LOG = '_delta_log';
const HINT = '_last_checkpoint';

/** Prints the folder of a table. It holds the table's files, and the log in a folder of its own. */
export const printTableFolder = (experimentId: string, tableId: string): string => printObjectKey('tables', experimentId, tableId);

/** Prints what the keys of a table's log begin with. */
export const printLogFolder = (folder: string): string => `${folder}/${LOG}/`;

/** Whether an object of the lake is of a log. */
export const isLogKey = (key: string): boolean => key.includes(`/${LOG}/`);

/** Whether an object of the lake names the newest checkpoint of a log. */
export const isHintKey = (key: string): boolean => key.endsWith(`/${HINT}`);

const numbered = (version: number) => String(version).padStart(20, '0');

export const printEntryKey = (folder: string, version: number): string => `${printLogFolder(folder)}${numbered(version)}.json`;

export const printCheckpointKey = (folder: string, version: number): string =>
  `${printLogFolder(folder)}${numbered(version)}.checkpoint.parquet`;

/** Prints the key of the object that names the newest checkpoint. */
export const printHintKey = (folder: string): string => `${printLogFolder(folder)}${HINT}`;
