import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MacroLanguage } from '../../src/sandbox/job.ts';

/** One call of a helper, as the reference answered it. What JSON cannot say is an object with the key `$`. */
export interface Pair {
  name: string;
  args: unknown[];
  result?: unknown;
  throws?: true;
  argsAfter?: unknown[];
}

type Recorded = Record<string, Partial<Record<MacroLanguage | 'javascript-mobile', Omit<Pair, 'name'>[]>>>;

const recorded = (
  JSON.parse(readFileSync(join(import.meta.dirname, 'reference-helpers.json'), 'utf8')) as {
    helpers: Recorded;
  }
).helpers;

/** `javascript-mobile` is the copy of the helpers in a phone app, which runs no macro here: it is not ours to match. */
export const pairsOf = (language: MacroLanguage): Pair[] =>
  Object.entries(recorded).flatMap(([name, languages]) => (languages[language] ?? []).map((pair) => ({ name, ...pair })));

const namesOf = (language: MacroLanguage): string[] => [...new Set(pairsOf(language).map(({ name }) => name))];

/** A macro that calls the helper its item names, and answers with text that tells NaN, NA, null and what is missing apart. */
export const callerIn: Record<MacroLanguage, () => string> = {
  javascript: () => `
const special = { NaN, Infinity, '-Infinity': -Infinity, '-0': -0, undefined };
const decode = (v) => {
  if (Array.isArray(v)) return v.map(decode);
  if (typeof v !== 'object' || v === null) return v;
  if (v.$ === 'array+props') return Object.assign(decode(v.items), Object.fromEntries(Object.entries(v.props).map(([k, e]) => [k, decode(e)])));
  if ('$' in v) return special[v.$];
  return Object.fromEntries(Object.entries(v).map(([k, e]) => [k, decode(e)]));
};
const encode = (v) => {
  if (v === undefined || Object.is(v, -0)) return { $: v === undefined ? 'undefined' : '-0' };
  if (typeof v === 'number') return Number.isFinite(v) ? v : { $: String(v) };
  if (typeof v !== 'object' || v === null) return v;
  if (!Array.isArray(v)) return Object.fromEntries(Object.entries(v).map(([k, e]) => [k, encode(e)]));
  const items = Array.from(v, encode);
  const props = Object.entries(v).filter(([k]) => !/^\\d+$/.test(k)).map(([k, e]) => [k, encode(e)]);
  return props.length === 0 ? items : { $: 'array+props', items, props: Object.fromEntries(props) };
};
const helpers = { ${namesOf('javascript')
    .map((name) => `${name}: typeof ${name} === 'function' ? ${name} : undefined`)
    .join(', ')} };
const tell = ({ name, args: encoded }) => {
  try {
    const args = decode(encoded);
    const result = helpers[name](...args);
    return { result: encode(result), argsAfter: encode(args) };
  } catch (error) {
    return { throws: true, message: String(error) };
  }
};
return { text: JSON.stringify(json.pairs.map(tell)) };`,
  python: () => `
def decode(v):
    if isinstance(v, list): return [decode(e) for e in v]
    if not isinstance(v, dict): return v
    if '$' in v: return float(v['$'])
    return {k: decode(e) for k, e in v.items()}
def encode(v):
    if isinstance(v, float):
        if v != v: return {'$': 'NaN'}
        if v in (float('inf'), float('-inf')): return {'$': 'Infinity' if v > 0 else '-Infinity'}
        if v == 0 and str(v) == '-0.0': return {'$': '-0'}
        return v
    if isinstance(v, (list, tuple)): return [encode(e) for e in v]
    if isinstance(v, dict): return {k: encode(e) for k, e in v.items()}
    return v
helpers = {${namesOf('python')
    .map((name) => `'${name}': ${name}`)
    .join(', ')}}
def tell(pair):
    try:
        args = decode(pair['args'])
        result = helpers[pair['name']](*args)
        return {'result': encode(result), 'argsAfter': encode(args)}
    except Exception as error:
        return {'throws': True, 'message': repr(error)}
return {'text': json_module.dumps([tell(pair) for pair in json['pairs']])}`,
  r: () => `
special <- list("NaN" = NaN, "Infinity" = Inf, "-Infinity" = -Inf, "-0" = -0, "NA" = NA)
scalar <- function(v) is.null(v) || (is.atomic(v) && length(v) == 1) || (is.list(v) && !is.null(v[["$"]]) && !is.null(special[[v[["$"]]]]))
decode <- function(v) {
  if (!is.list(v)) return(v)
  if (!is.null(names(v))) {
    if (is.null(v[["$"]])) return(lapply(v, decode))
    if (v[["$"]] == "list") return(lapply(v$items, function(e) if (is.null(e)) NULL else decode(e)))
    if (v[["$"]] == "matrix") return(do.call(rbind, lapply(v$rows, decode)))
    return(special[[v[["$"]]]])
  }
  if (length(v) == 0) return(numeric())
  if (all(vapply(v, scalar, TRUE))) return(unlist(lapply(v, function(e) if (is.null(e)) NA else decode(e))))
  lapply(v, decode)
}
quoted <- function(text) paste0('"', gsub('"', '\\\\"', gsub("\\\\", "\\\\\\\\", text, fixed = TRUE), fixed = TRUE), '"')
atom <- function(v) {
  if (is.numeric(v) && is.nan(v)) return('{"$":"NaN"}')
  if (is.na(v)) return('{"$":"NA"}')
  if (is.numeric(v) && is.infinite(v)) return(if (v > 0) '{"$":"Infinity"}' else '{"$":"-Infinity"}')
  if (is.numeric(v) && v == 0 && 1 / v < 0) return('{"$":"-0"}')
  if (is.character(v)) quoted(v) else if (is.logical(v)) (if (v) "true" else "false") else sprintf("%.17g", v)
}
listed <- function(parts) paste0("[", paste(parts, collapse = ","), "]")
encode <- function(v) {
  if (is.null(v)) return("null")
  if (is.environment(v)) v <- as.list(v)
  if (is.matrix(v)) return(listed(apply(v, 1, function(row) listed(vapply(row, atom, "")))))
  if (is.data.frame(v)) v <- as.list(v)
  if (is.list(v) && is.null(names(v))) return(listed(vapply(v, encode, "")))
  if (is.list(v) && length(v) == 0) return("{}")
  if (is.list(v)) return(paste0("{", paste(quoted(names(v)), vapply(v, encode, ""), sep = ":", collapse = ","), "}"))
  if (length(v) == 1) atom(v) else listed(vapply(as.vector(v), atom, ""))
}
tell <- function(pair) tryCatch(
  sprintf('{"result":%s}', encode(do.call(pair$name, lapply(pair$args, decode), quote = TRUE))),
  error = function(error) paste0('{"throws":true,"message":', quoted(conditionMessage(error)), "}")
)
output$text <- listed(vapply(json$pairs, tell, ""))`,
};

const FITS = ['MathLINREG', 'MathMULTREG', 'MathPOLYREG', 'MathEXPINVREG', 'NonLinearRegression', 'QRDecomp', 'inv'];
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
const isZero = (value: unknown): boolean => typeof value === 'object' && value !== null && (value as { $?: string }).$ === '-0';

const largestIn = (value: unknown): number => {
  if (typeof value === 'number') return Math.abs(value);
  return typeof value === 'object' && value !== null ? Math.max(0, ...Object.values(value).map(largestIn)) : 0;
};

/**
 * The same value in the same shape; numbers, also those within a text, may differ by one part in 1e9. Below `noise` a number is what rounding left over
 * from larger ones, and only says that it is small.
 */
const isSame = (actual: unknown, wanted: unknown, noise: number): boolean => {
  if (noise > 0 && (isZero(actual) || isZero(wanted))) return isSame(isZero(actual) ? 0 : actual, isZero(wanted) ? 0 : wanted, noise);
  if (typeof wanted === 'number' && typeof actual === 'number')
    return Math.abs(actual - wanted) <= Math.max(1e-9 * Math.abs(wanted), noise);
  if (typeof wanted === 'string' && typeof actual === 'string' && noise > 0)
    return (
      actual.replace(NUMBER, '#') === wanted.replace(NUMBER, '#') &&
      isSame(actual.match(NUMBER)?.map(Number) ?? [], wanted.match(NUMBER)?.map(Number) ?? [], noise)
    );
  if (typeof wanted !== 'object' || wanted === null || typeof actual !== 'object' || actual === null) return actual === wanted;
  if (Array.isArray(wanted) !== Array.isArray(actual)) return false;
  const keys = Object.keys(wanted);
  const entry = (value: object, key: string) => (value as Record<string, unknown>)[key];
  return (
    keys.length === Object.keys(actual).length &&
    keys.every((key) => Object.hasOwn(actual, key) && isSame(entry(actual, key), entry(wanted, key), noise))
  );
};

export interface Told {
  result?: unknown;
  throws?: true;
  message?: string;
  argsAfter?: unknown[];
}

/** How an answer differs from what the reference gave, or nothing. `within` is what a number may differ by, as a share of the largest in the answer. */
export const differenceOf = (pair: Pair, told: Told, within = 0): string | undefined => {
  const rounding = FITS.includes(pair.name) ? 1e-12 * Math.max(1, largestIn([pair.args, pair.result])) : 0;
  const noise = Math.max(rounding, within * largestIn(pair.result));
  const wanted = pair.throws === true ? 'an error' : JSON.stringify(pair.result);
  if (told.throws === true) return pair.throws === true ? undefined : `${told.message} for ${wanted}`;
  if (pair.throws === true || !isSame(told.result, pair.result, noise)) return `${JSON.stringify(told.result)} for ${wanted}`;
  if (told.argsAfter === undefined || isSame(told.argsAfter, pair.argsAfter ?? pair.args, 0)) return undefined;
  return `arguments ${JSON.stringify(told.argsAfter)} for ${JSON.stringify(pair.argsAfter ?? pair.args)}`;
};

/** How a pair is called: what it is known by in a list of failures. */
export const callOf = ({ name, args }: Pair): string => `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`;
