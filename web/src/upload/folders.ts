import type { DropZoneProps } from 'react-aria-components/DropZone';
import { kindOf } from './kinds.ts';

type DropItem = Parameters<NonNullable<DropZoneProps['onDrop']>>[0]['items'][number];

/** Files of one upload at most, of whichever kind. */
const MOST_FILES = 1_000;

/** Where a file lies in the folder that it came with; its name where it came without one. */
export const placeOf = (file: File): string => file.webkitRelativePath || file.name;

/** Whether a file came with its folder and is nothing to upload: hidden, or of no kind by its name. */
export const isBycatch = (file: File): boolean =>
  placeOf(file) !== file.name && (file.name.startsWith('.') || kindOf(file.name) === undefined);

/** Notes on a file in which dropped folder it lies, as browsers do it for a folder that is chosen. */
const noteFolder = (file: File, folder: string): File =>
  folder === '' ? file : Object.defineProperty(file, 'webkitRelativePath', { value: `${folder}${file.name}` });

async function* walkItem(item: DropItem, folder: string): AsyncGenerator<File> {
  if (item.kind === 'file') yield noteFolder(await item.getFile(), folder);
  if (item.kind === 'directory') for await (const entry of item.getEntries()) yield* walkItem(entry, `${folder}${item.name}/`);
}

/** The files that were dropped, also in folders. It stops at the first that is too many for an upload, which the service then refuses. */
export async function listDropped(items: readonly DropItem[]): Promise<File[]> {
  const files: File[] = [];
  for (const item of items)
    for await (const file of walkItem(item, '')) {
      files.push(file);
      if (files.length > MOST_FILES) return files;
    }
  return files;
}
