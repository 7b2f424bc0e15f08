/** Our tables are in `public`, wherever the role or the database would look first, and a connection that holds locks or listens lasts while it is idle. */
const ALWAYS = { search_path: 'public', idle_session_timeout: 0 };

/** Adds our settings to the address of a database, behind those that it has: of two of one name Postgres takes the later. pg alone would drop ours. */
export function addSettings(url: string, settings: Readonly<Record<string, string | number>> = {}): string {
  const [, query = ''] = url.split('?');
  const theirs = new URLSearchParams(query).getAll('options').slice(-1);
  const ours = Object.entries({ ...ALWAYS, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent([...theirs, ...ours].join(' '))}`;
}
