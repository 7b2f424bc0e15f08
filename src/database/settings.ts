/** Where our tables are, wherever the role or the database would look first. */
const SCHEMA = 'public';

/** Adds our settings to the address of a database, behind those that it has: of two of one name Postgres takes the later. pg alone would drop ours. */
export function addSettings(url: string, settings: Readonly<Record<string, string | number>> = {}): string {
  const [, query = ''] = url.split('?');
  const theirs = new URLSearchParams(query).getAll('options').slice(-1);
  const ours = Object.entries({ search_path: SCHEMA, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent([...theirs, ...ours].join(' '))}`;
}
