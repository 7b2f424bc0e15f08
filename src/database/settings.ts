/** Where our tables are, wherever the role or the database would look first. */
const SCHEMA = 'public';

/** The address of a database with settings of ours behind its own, which pg would take in place of ours; of two with one name the later holds. */
export function addSettings(url: string, settings: Readonly<Record<string, string | number>> = {}): string {
  const [, query = ''] = url.split('?');
  const theirs = new URLSearchParams(query).getAll('options').slice(-1);
  const ours = Object.entries({ search_path: SCHEMA, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent([...theirs, ...ours].join(' '))}`;
}
