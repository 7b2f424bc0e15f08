/**
 * Databricks SQL text as DuckDB SQL text, for the statements that our compiler writes: what a Spark parser reads is read here, token by
 * token, and whatever DuckDB spells or means differently is spelled out. Markers become literals first, as they do in Spark.
 * Anything that is not known to mean the same stays as it is, and DuckDB refuses it.
 */
import { printPhysicalType } from '../../src/lakehouse/terms/physical-types.ts';
import { parseType } from '../../src/lakehouse/terms/types.ts';

/** The name under which the engine of the tests finds a version of a Delta table. */
export const liveName = (url: string, version: number): string => `${url}@${version}`;

/** A value as it came over the wire: Spark's type name and text; neither for NULL. */
export interface WireParameter {
  type: string | undefined;
  value: string | undefined;
}

interface Leaf {
  kind: 'space' | 'word' | 'name' | 'text' | 'number' | 'symbol';
  /** Decoded: without quotes and escapes. */
  text: string;
}
interface Group {
  kind: 'group';
  inner: Node[];
}
type Node = Leaf | Group;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', '0': '\0', Z: '\x1a' };
const decode = (body: string, quote: string) =>
  body.replaceAll(new RegExp(`\\\\([\\s\\S])|${quote}${quote}`, 'g'), (_all, escaped: string | undefined) =>
    escaped === undefined ? quote : (ESCAPES[escaped] ?? escaped),
  );

const TOKEN =
  /(?<space>\s+|--[^\n]*)|(?<name>`(?:[^`]|``)*`)|(?<text>'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*")|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<symbol><=>|->|<=|>=|<>|!=|\|\||[?()[\],.=<>+\-*/%:])/y;

const literal = (text: string): string =>
  text
    .split('\0')
    .map((part) => `'${part.replaceAll("'", "''")}'`)
    .join(' || chr(0) || ');

const parameterText = ({ type, value }: WireParameter): Leaf => {
  if (type === undefined || value === undefined) return { kind: 'symbol', text: 'null' };
  if (type === 'STRING') return { kind: 'text', text: value };
  if (type === 'BOOLEAN') return { kind: 'symbol', text: value.toLowerCase() };
  if ((type === 'BIGINT' || type === 'INTEGER') && /^-?\d+$/.test(value)) return { kind: 'symbol', text: value };
  if (type === 'DOUBLE') return { kind: 'symbol', text: `cast(${literal(value)} as double)` };
  throw new Error(`A parameter of type ${type} is not known here.`);
};

function tokens(sql: string, parameters: readonly WireParameter[]): Leaf[] {
  const found: Leaf[] = [];
  let next = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < sql.length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(sql)?.groups;
    if (!groups) throw new Error(`[PARSE_SYNTAX_ERROR] Syntax error at or near '${sql.slice(at, at + 20)}'.`);
    const [kind, text = ''] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    if (kind === 'name') found.push({ kind, text: text.slice(1, -1).replaceAll('``', '`') });
    else if (kind === 'text') found.push({ kind, text: decode(text.slice(1, -1), text.charAt(0)) });
    else if (text === '?') {
      const parameter = parameters[next];
      if (!parameter) throw new Error('[UNBOUND_SQL_PARAMETER] Found the unbound parameter.');
      next += 1;
      found.push(parameterText(parameter));
    } else found.push({ kind: kind as Leaf['kind'], text });
  }
  if (next !== parameters.length) throw new Error('[INVALID_PARAMETERS] More values than markers.');
  return found;
}

function tree(leaves: readonly Leaf[]): Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const leaf of leaves) {
    const current = open.at(-1)!;
    if (leaf.kind === 'symbol' && leaf.text === '(') {
      const group: Group = { kind: 'group', inner: [] };
      current.push(group);
      open.push(group.inner);
    } else if (leaf.kind === 'symbol' && leaf.text === ')') {
      open.pop();
      if (open.length === 0) throw new Error(`[PARSE_SYNTAX_ERROR] Syntax error at or near ')'.`);
    } else current.push(leaf);
  }
  if (open.length !== 1) throw new Error('[PARSE_SYNTAX_ERROR] Syntax error at or near end of input.');
  return root;
}

const isSymbol = (node: Node | undefined, text: string) => node?.kind === 'symbol' && node.text === text;
const isWord = (node: Node | undefined, text: string) => node?.kind === 'word' && node.text.toLowerCase() === text;
const trimmed = (nodes: readonly Node[]): Node[] => nodes.filter((node) => node.kind !== 'space');

function split(nodes: readonly Node[]): Node[][] {
  const parts: Node[][] = [[]];
  for (const node of nodes) {
    if (isSymbol(node, ',')) parts.push([]);
    else parts.at(-1)!.push(node);
  }
  return parts.length === 1 && trimmed(parts[0]!).length === 0 ? [] : parts;
}

/** The text of a literal that must be one here: a field's name, a path, a pattern. */
function constant(nodes: readonly Node[]): string {
  const [only, ...more] = trimmed(nodes);
  if (only?.kind !== 'text' || more.length > 0) throw new Error('[NON_FOLDABLE_ARGUMENT] The argument must be a literal.');
  return only.text;
}

const duckType = (text: string): string => printPhysicalType(parseType(text));

/** A version of a Delta table: its path and number, and how many nodes it takes. */
function liveTable(nodes: readonly Node[]): { name: string; nodes: number } | null {
  const [delta, dot, path, ...rest] = nodes;
  if (!isWord(delta, 'delta') || !isSymbol(dot, '.') || path?.kind !== 'name') return null;
  const words = rest.flatMap((node, at) => (node.kind === 'space' ? [] : [{ node, at }])).slice(0, 4);
  const [version, as, of, number] = words.map(({ node }) => node);
  if (!isWord(version, 'version') || !isWord(as, 'as') || !isWord(of, 'of') || number?.kind !== 'number')
    throw new Error('[PARSE_SYNTAX_ERROR] A path without a version.');
  return { name: liveName(path.text, Number(number.text)), nodes: 4 + words[3]!.at };
}

const PATTERN: Readonly<Record<string, string>> = { yyyy: '%Y', MM: '%m', dd: '%d', HH: '%H', mm: '%M', ss: '%S', SSS: '%g', SSSSSS: '%f' };
const strftime = (pattern: string): string =>
  pattern.replaceAll(/'([^']*)'|[A-Za-z]+|[^A-Za-z']+/g, (part, quoted: string | undefined) => {
    if (quoted !== undefined) return quoted;
    if (!/^[A-Za-z]/.test(part)) return part;
    const known = PATTERN[part];
    if (known === undefined) throw new Error(`[INVALID_DATETIME_PATTERN] ${part}`);
    return known;
  });

type Rule = (parts: readonly Node[][], args: readonly string[]) => string;
const renamed =
  (name: string): Rule =>
  (_parts, args) =>
    `${name}(${args.join(', ')})`;
const unit = (nodes: readonly Node[] | undefined) => {
  const [word] = trimmed(nodes ?? []);
  if (word?.kind !== 'word') throw new Error('[INVALID_PARAMETER_VALUE.DATETIME_UNIT]');
  return word.text.toLowerCase();
};
/** Of NaN and infinities Spark makes NaN, where DuckDB refuses. */
const finite =
  (name: string): Rule =>
  (_parts, [of]) =>
    `case when bool_or(not isfinite(${of!})) then cast('NaN' as double) else ${name}(case when isfinite(${of!}) then ${of!} end) end`;

/** The list and the condition on its elements, as DuckDB writes a lambda. */
const lambda = (of: string, condition: readonly Node[]): string => {
  const arrow = condition.findIndex((node) => isSymbol(node, '->'));
  return `${of}, lambda ${emit(condition.slice(0, arrow)).trim()}: ${emit(condition.slice(arrow + 1)).trim()}`;
};

const RULES: Readonly<Record<string, Rule>> = {
  array: (_parts, args) => `[${args.join(', ')}]`,
  array_join: renamed('array_to_string'),
  array_sort: renamed('list_sort'),
  cast: (parts) => {
    const of = parts.flatMap((part, at) => (at === 0 ? part : [{ kind: 'symbol', text: ',' } as const, ...part]));
    const at = of.findLastIndex((node) => isWord(node, 'as'));
    const type = of
      .slice(at + 1)
      .map((node) => (node.kind === 'group' ? `(${written(node.inner)})` : node.kind === 'name' ? `\`${node.text}\`` : node.text));
    return `cast(${emit(of.slice(0, at)).trim()} as ${duckType(type.join('').trim())})`;
  },
  collect_list: renamed('list'),
  // any null makes it null in Spark; DuckDB's own function skips nulls
  concat: (_parts, args) => `(${args.map((arg) => `(${arg})`).join(' || ')})`,
  covar_samp: (_parts, [left, right]) => {
    const usable = `isfinite(${left!}) and isfinite(${right!})`;
    const both = `${left!} is not null and ${right!} is not null`;
    return `case when bool_or(${both} and not (${usable})) then cast('NaN' as double) else covar_samp(case when ${usable} then ${left!} end, ${right!}) end`;
  },
  // Spark reads a repeated local hour as its first instant, DuckDB as its second at midnight
  convert_timezone: (_parts, [from, to, at]) => {
    const start = `timezone(${from!}, ${at!})`;
    const first = `case when timezone(${from!}, ${start} - interval 1 hour) = ${at!} then ${start} - interval 1 hour else ${start} end`;
    return `timezone(${to!}, ${from === "'UTC'" ? start : first})`;
  },
  date_format: ([, pattern = []], [of]) => `strftime(${of!}, ${literal(strftime(constant(pattern)))})`,
  date_trunc: ([of = []], [, at]) => `date_trunc(${literal(constant(of).toLowerCase())}, ${at!})`,
  element_at: renamed('list_extract'),
  exists: ([, condition = []], [list]) => `len(list_filter(${lambda(list!, condition)})) > 0`,
  format_string: renamed('printf'),
  get_json_object: ([, path = []], [of]) => {
    const keys = [...constant(path).matchAll(/\['([^'?]+)'\]/g)].map(([, key = '']) => `."${key}"`);
    return `json_extract_string(case when json_valid(${of!}) then ${of!} end, ${literal(`$${keys.join('')}`)})`;
  },
  max_by: renamed('arg_max'),
  min_by: renamed('arg_min'),
  named_struct: (parts, args) => {
    const fields = parts.flatMap((part, at) => (at % 2 === 0 ? [`${literal(constant(part))}: ${args[at + 1]!}`] : []));
    return `{${fields.join(', ')}}`;
  },
  percentile: renamed('quantile_cont'),
  regexp_like: renamed('regexp_matches'),
  regexp_replace: (_parts, [of, pattern, by]) => `regexp_replace(${of!}, ${pattern!}, ${by!.replaceAll('$', '\\')})`,
  startswith: renamed('starts_with'),
  stddev_samp: finite('stddev_samp'),
  struct: (parts) => {
    const fields = parts.map((part, at) => {
      const [name, as] = trimmed(part).reverse();
      const aliased = isWord(as, 'as') && (name?.kind === 'word' || name?.kind === 'name');
      const of = aliased ? part.slice(0, part.lastIndexOf(as!)) : part;
      return `${literal(aliased ? name.text : `col${at + 1}`)}: ${emit(of).trim()}`;
    });
    return `{${fields.join(', ')}}`;
  },
  timestamp_micros: renamed('make_timestamptz'),
  timestampadd: ([of], [, many, at]) => `(${at!} + to_${unit(of)}s(${many!}))`,
  timestampdiff: ([of], [, from, to]) => `date_diff('${unit(of)}', ${from!}, ${to!})`,
  to_json: (_parts, [arg]) => `cast(to_json(${arg!}) as varchar)`,
  transform: ([, made = []], [list]) => `list_transform(${lambda(list!, made)})`,
  trunc: ([, of = []], [day]) => `date_trunc(${literal(constant(of).toLowerCase())}, ${day!})`,
  try_cast: (parts, args) => `try_${RULES['cast']!(parts, args)}`,
  try_parse_json: (_parts, [of]) => `(case when json_valid(${of!}) then ${of!} end)`,
  unix_date: (_parts, [of]) => `(${of!} - date '1970-01-01')`,
  unix_micros: renamed('epoch_us'),
  var_samp: finite('var_samp'),
};

/** Aggregates that become an expression, which no FILTER may follow: its condition goes into their argument. */
const MADE = new Set(['covar_samp', 'stddev_samp', 'var_samp']);

/** The condition of a `filter (where …)` that follows, and how many nodes it takes. */
function filterAfter(nodes: readonly Node[]): { condition: string; nodes: number } | null {
  const at = nodes.findIndex((node) => node.kind !== 'space');
  const group = nodes.findIndex((node, index) => index > at && node.kind !== 'space');
  const inner = nodes[group];
  if (!isWord(nodes[at], 'filter') || inner?.kind !== 'group') return null;
  const where = inner.inner.findIndex((node) => isWord(node, 'where'));
  return { condition: emit(inner.inner.slice(where + 1)).trim(), nodes: group + 1 };
}

const written = (nodes: readonly Node[]): string =>
  nodes.map((node) => (node.kind === 'group' ? `(${written(node.inner)})` : node.text)).join('');

function emit(nodes: readonly Node[]): string {
  let sql = '';
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at]!;
    const next = nodes[at + 1];
    const live = liveTable(nodes.slice(at));
    if (live) {
      sql += `"${live.name.replaceAll('"', '""')}"`;
      at += live.nodes - 1;
    } else if (node.kind === 'group') sql += `(${emit(node.inner)})`;
    else if (node.kind === 'name') sql += `"${node.text.replaceAll('"', '""')}"`;
    else if (node.kind === 'text') sql += literal(node.text);
    else if (isSymbol(node, '<=>')) sql += 'is not distinct from';
    else if (isWord(node, 'timestamp_ntz') && next?.kind === 'text') sql += 'timestamp ';
    else if (node.kind === 'word' && next?.kind === 'group' && Object.hasOwn(RULES, node.text.toLowerCase())) {
      const name = node.text.toLowerCase();
      const parts = split(next.inner);
      const filter = MADE.has(name) ? filterAfter(nodes.slice(at + 2)) : null;
      const args = parts.map((part) => emit(part).trim());
      sql += RULES[name]!(parts, filter ? args.map((arg) => `case when ${filter.condition} then ${arg} end`) : args);
      at += 1 + (filter?.nodes ?? 0);
    } else sql += node.text;
  }
  return sql;
}

/** Throws, with a message such as Spark's, on what is not a statement of ours. */
export const duckdbText = (sql: string, parameters: readonly WireParameter[]): string => emit(tree(tokens(sql, parameters)));
