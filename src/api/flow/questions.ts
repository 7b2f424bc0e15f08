import { listFixedColumns } from '../../lakehouse/terms/catalog.ts';

/**
 * Makes the column name of a question's answers. The label is put in lower case. Every run of characters other than a-z, 0-9 and _ becomes one _, and none is
 * left at the ends. An empty result or a leading digit gets the prefix `question_`; an empty label is `question_empty`.
 */
export function canonicaliseQuestion(label: string): string {
  if (label === '') return 'question_empty';
  const name = label
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return name === '' || /^[0-9]/.test(name) ? `question_${name}` : name;
}

/** Names that measurements have had, or will have, besides those of the catalogue. */
const ALSO_RESERVED = `
  _id annotations client_id contributor_id custom_metadata data device_version experiment_id macro_context macro_error
  macro_filename macro_id macro_name macro_output output_data questions_data raw_id skip_macro_processing user_id
  workbook_version_id`;

const reserved: ReadonlySet<string> = new Set([
  ...listFixedColumns('raw_data').map(({ name }) => name.toLowerCase()),
  ...listFixedColumns('macro').map(({ name }) => name.toLowerCase()),
  ...ALSO_RESERVED.trim().split(/\s+/),
]);

/** Whether a name belongs to a column of every measurement table, so that no question and no metadata column may take it. */
export const isReservedColumn = (name: string): boolean => reserved.has(name.toLowerCase());
