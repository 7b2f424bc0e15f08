import { fold } from '../fold.ts';

const LONGEST = 60;

/** Makes a slug: lower-case ASCII letters and digits with single hyphens, at most 60 characters. Empty when nothing of the text can be kept. */
export const makeSlug = (text: string): string =>
  fold(text)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');

/** Makes `{experiment slug}_{table slug}_{YYYYMMDD_HHMMSS}.{extension}`, in UTC. An id takes the place of a name that leaves no slug. */
export function makeFileName(
  experiment: { name: string; id: string },
  table: { name: string; id: string },
  at: Date,
  extension: string,
): string {
  const [date = '', time = ''] = at.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T');
  return `${makeSlug(experiment.name) || experiment.id}_${makeSlug(table.name) || table.id}_${date}_${time}.${extension}`;
}
