/** Members of a body that are looked at for a place. */
const MOST_LOOKED_AT = 20_000;

/** Where a body has a list of that name with a member at that index; at most two places. */
function listsNamed(body: unknown, name: string, index: number): string[] {
  const found: string[] = [];
  const waiting: [string, unknown][] = [['body', body]];
  for (let at = 0; at < waiting.length && at < MOST_LOOKED_AT && found.length < 2; at += 1) {
    const [place, value] = waiting[at] ?? ['', null];
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      const here = Array.isArray(value) ? `${place}[${key}]` : `${place}.${key}`;
      if (key === name && Array.isArray(inner) && inner.length > index) found.push(here);
      if (waiting.length < MOST_LOOKED_AT) waiting.push([here, inner]);
    }
  }
  return found;
}

/**
 * The place of a problem as all others are written. The validator of routes writes `columns.$0.name` for what is `body.metadata.columns[0].name`; what
 * lies before the list is found in the body, and left out where several lists could be meant.
 */
export function placeIn(body: unknown, written: string): string {
  const [, name, index, rest = ''] = /^(?:.*\.)?([^.]+)\.\$(\d+)(.*)$/s.exec(written) ?? [];
  if (name === undefined || index === undefined) return written;
  const [only, ...others] = name === 'body' ? ['body'] : listsNamed(body, name, Number(index));
  return `${only !== undefined && others.length === 0 ? only : name}[${index}]${rest}`;
}
