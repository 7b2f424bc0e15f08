/** Quotes names and texts in SQL where no value can be bound. */

/** A name as DuckDB and Postgres read it. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A name as Databricks reads it. */
export const quoteWithBackticks = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/** Text as DuckDB reads it, such as the path of a COPY. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
