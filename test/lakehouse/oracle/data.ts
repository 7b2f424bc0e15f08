/** Rows that hurt: nulls, NaN, infinities, neighbours of 2^53, ties, daylight-saving days. Knows nothing of the code under test. */

export type Cell = null | boolean | number | bigint | string;
/** How a column's cells are held: `dec` in thousandths, `day` in days, `at` and `clock` in microseconds since 1970. */
export type CellKind = 'bool' | 'int' | 'big' | 'dec' | 'dbl' | 'txt' | 'day' | 'at' | 'clock';

export interface Row {
  id: string;
  uploadedAt: bigint | null;
  contributor: string | null;
  cells: Record<CellKind, Cell>;
}

export const KINDS: readonly CellKind[] = ['bool', 'int', 'big', 'dec', 'dbl', 'txt', 'day', 'at', 'clock'];
export const ZONES = ['Europe/Amsterdam', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana'] as const;
export const PEOPLE: readonly { id: string; name: string | null; avatar: string | null; pseudonym: string }[] = [
  { id: 'u0', name: 'Ada', avatar: 'https://a', pseudonym: 'Contributor-0' },
  { id: 'u1', name: 'Bo', avatar: null, pseudonym: 'Contributor-1' },
  { id: 'u2', name: null, avatar: null, pseudonym: 'Contributor-2' },
];

export interface Random {
  next: () => number;
  int: (below: number) => number;
  pick: <T>(list: readonly T[]) => T;
  chance: (p: number) => boolean;
}

export const random = (seed: number): Random => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return { next, int, pick: (list) => list[int(list.length)] as never, chance: (p) => next() < p };
};

const utc = (text: string) => BigInt(Date.parse(text)) * 1000n;
/** Both changes of 2024 in each zone, and ordinary days. */
const TURNS = [
  '2024-03-31T01:00Z',
  '2024-10-27T01:00Z',
  '2024-03-10T07:00Z',
  '2024-11-03T06:00Z',
  '2024-04-06T15:00Z',
  '2024-10-05T15:30Z',
  '2024-03-10T05:00Z',
  '2024-11-03T05:00Z',
  '2024-01-01T00:00Z',
  '2024-06-15T12:00Z',
].map(utc);

const MINUTE = 60_000_000n;
const TEXTS = ['a', 'A', 'b', 'ab', '50%', '50%_off', '5', 'é', 'z', '日本', '😀', 'ﬀ', "it's", '=1+1', 'null', 'a\\b', ' a'];

const instant = (r: Random) => r.pick(TURNS) + BigInt(r.int(60 * 60) - 30 * 60) * MINUTE + (r.chance(0.3) ? BigInt(r.int(60_000_000)) : 0n);

const MAKERS: Record<CellKind, (r: Random) => Cell> = {
  bool: (r) => r.chance(0.5),
  int: (r) => (r.chance(0.1) ? r.pick([2147483647, -2147483648, 0]) : r.int(12) - 4),
  big: (r) =>
    r.chance(0.4)
      ? r.pick([2n ** 53n, 2n ** 53n + 1n, 2n ** 53n - 1n, -(2n ** 53n), -(2n ** 53n) - 1n, 9_000_000_000_000_000_000n])
      : BigInt(r.int(20) - 10),
  dec: (r) => BigInt(r.chance(0.1) ? r.pick([999_999_999_999, -999_999_999_999]) : r.int(40_000) - 20_000),
  dbl: (r) => (r.chance(0.06) ? r.pick([NaN, Infinity, -Infinity, -0, 0]) : (r.int(16_000) - 8_000) / 8),
  txt: (r) => (r.chance(0.05) ? '' : r.pick(TEXTS)),
  day: (r) => 19_723 + r.int(366),
  at: instant,
  clock: instant,
};

export const makeRows = (seed: number, count: number): Row[] => {
  const r = random(seed);
  const ids = new Set<string>();
  while (ids.size < count) ids.add(Array.from({ length: 32 }, () => '0123456789abcdef'[r.int(16)]).join(''));
  return [...ids].map((id) => ({
    id,
    uploadedAt: r.chance(0.1) ? null : r.pick(TURNS),
    contributor: r.chance(0.1) ? null : `u${r.int(4)}`,
    cells: Object.fromEntries(KINDS.map((kind) => [kind, r.chance(0.12) ? null : MAKERS[kind](r)])) as Row['cells'],
  }));
};

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const literal = (kind: CellKind | 'id', cell: Cell): string => {
  if (cell === null) return 'null';
  switch (kind) {
    case 'bool':
    case 'int':
    case 'big':
      return String(cell);
    case 'dec':
      return `(${String(cell)}::decimal(20, 3) / 1000)`;
    case 'dbl':
      return Object.is(cell, -0) ? `'-0.0'::double` : `'${String(cell).replace('Infinity', 'inf')}'::double`;
    case 'day':
      return `(date '1970-01-01' + ${String(cell)})`;
    case 'at':
      return `make_timestamptz(${String(cell)})`;
    case 'clock':
      return `make_timestamp(${String(cell)})`;
    case 'txt':
    case 'id':
      return quoted(String(cell));
  }
};

const TYPES: Record<CellKind, string> = {
  bool: 'boolean',
  int: 'integer',
  big: 'bigint',
  dec: 'decimal(12, 3)',
  dbl: 'double',
  txt: 'varchar',
  day: 'date',
  at: 'timestamptz',
  clock: 'timestamp',
};

const isoOf = (micros: bigint) =>
  `${new Date(Number((micros - (micros % 1000n)) / 1000n)).toISOString().slice(0, 23)}${String(micros % 1000n).padStart(3, '0')}Z`;

const EXACT_TO = 2n ** 53n;
const isLarge = (big: bigint) => big > EXACT_TO || big < -EXACT_TO;

/** The JSON document that stands beside a row's cells, and holds what some of them hold; in an answer large whole numbers are text. */
export const documentOf = ({ cells: { int, big, dbl, txt, bool, day, at } }: Row, isAnswer = false): string => {
  const members = {
    n: int === null ? 'null' : String(int),
    big: big === null ? 'null' : isAnswer && isLarge(BigInt(big)) ? `"${String(big)}"` : String(big),
    d: JSON.stringify(dbl),
    't.x': JSON.stringify(txt),
    deep: `{"b":${String(bool)},"list":[${String(int)}]}`,
    ...(day === null ? {} : { day: JSON.stringify(new Date(Number(day) * 86_400_000).toISOString().slice(0, 10)) }),
    ...(at === null ? {} : { at: JSON.stringify(isoOf(BigInt(at))) }),
  };
  return `{${Object.entries(members)
    .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    .join(',')}}`;
};

/** A SELECT of these rows for DuckDB, without the columns that `lacking` names. */
export const selectRows = (rows: readonly Row[], experiment: string, lacking: readonly CellKind[] = []): string => {
  const kinds = KINDS.filter((kind) => !lacking.includes(kind));
  const values = rows.map(
    (row) =>
      `(${[literal('id', row.id), row.uploadedAt === null ? 'null' : literal('at', row.uploadedAt), row.contributor === null ? 'null' : quoted(row.contributor), ...kinds.map((kind) => literal(kind, row.cells[kind]))].join(', ')})`,
  );
  const columns = kinds.map((kind) => `cast("${kind}" as ${TYPES[kind]}) as "${kind}"`);
  const documents = rows.map((row) => `(${literal('id', row.id)}, ${quoted(documentOf(row))})`);
  return `select v.id, ${quoted(experiment)} as experiment_id, cast(uploaded_at as timestamptz) as uploaded_at, 'up' as upload_id, cast(contributor_id as varchar) as contributor_id, ${columns.join(', ')}, d.json from (values ${values.join(', ')}) as v(id, uploaded_at, contributor_id, ${kinds.map((kind) => `"${kind}"`).join(', ')}) join (values ${documents.join(', ')}) as d(id, json) on d.id = v.id`;
};
