/** Columns that every table has, beside those that were measured. */
export const GIVEN_COLUMNS: readonly string[] = ['id', 'uploaded_at', 'contributor', 'annotations'];

export const isGiven = (name: string): boolean => GIVEN_COLUMNS.includes(name);
