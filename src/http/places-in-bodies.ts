/** Members of a body that are looked at for its lists, outermost first. */
const MOST_LOOKED_AT = 5_000;

interface Member {
  value: unknown;
  key: string | number;
  /** What it is a member of; the body itself of nothing. */
  of: Member | undefined;
}

const placeOf = ({ key, of }: Member): string => {
  if (of === undefined) return String(key);
  return Array.isArray(of.value) ? `${placeOf(of)}[${key}]` : `${placeOf(of)}.${key}`;
};

/** The first members of a list or an object, which may have millions. */
function* membersOf(member: Member, most: number): Generator<Member> {
  const { value } = member;
  if (Array.isArray(value)) for (let key = 0; key < Math.min(value.length, most); key += 1) yield { value: value[key], key, of: member };
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value).slice(0, most)) yield { value: inner, key, of: member };
}

/** The lists among a body's first members by their names. */
function listsOf(body: unknown): ReadonlyMap<string, readonly Member[]> {
  const waiting: Member[] = [{ value: body, key: 'body', of: undefined }];
  for (const member of waiting) waiting.push(...membersOf(member, MOST_LOOKED_AT - waiting.length));
  const lists = new Map<string, Member[]>();
  for (const member of waiting.filter(({ value }) => Array.isArray(value))) {
    const name = String(member.key);
    const named = lists.get(name);
    if (named === undefined) lists.set(name, [member]);
    else named.push(member);
  }
  return lists;
}

/**
 * The places of problems as all others are written. The validator of routes writes `columns.$0.name` for what is `body.metadata.columns[0].name`; what
 * lies before the list is found in the body, and left out where several lists could be meant. The body is walked once for all of its problems: once for
 * each held the event loop for 130 ms when 160 kB of lists had twelve.
 */
export function placesIn(body: unknown): (written: string) => string {
  let lists: ReadonlyMap<string, readonly Member[]> | undefined;
  return (written) => {
    const [, name, index, rest = ''] = /^(?:.*\.)?([^.]+)\.\$(\d+)(.*)$/s.exec(written) ?? [];
    if (name === undefined || index === undefined) return written;
    if (name === 'body') return `body[${index}]${rest}`;
    lists ??= listsOf(body);
    const [only, ...others] = (lists.get(name) ?? []).filter(({ value }) => (value as readonly unknown[]).length > Number(index));
    return `${only !== undefined && others.length === 0 ? placeOf(only) : name}[${index}]${rest}`;
  };
}
