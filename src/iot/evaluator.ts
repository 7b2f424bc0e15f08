/**
 * The one evaluator of policy documents. The embedded broker asks it on connect, publish, subscribe and receive, and the tests ask it about the very documents
 * that are sent to AWS. It follows AWS's rules: an explicit Deny wins, then an Allow, else the answer is no. `*` stands for any characters (slashes too), `?`
 * for one. `${…}` is replaced by what is known of the connection, and the replacement is always literal. Statements with conditions are not made, and not read.
 */
export type OneOrMany<T> = T | readonly T[];

export interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: OneOrMany<string>;
  Resource: OneOrMany<string>;
}

export interface PolicyDocument {
  Version: '2012-10-17';
  Statement: readonly Statement[];
}

/** What is known of a connection, by variable name: `iot:ClientId`, `iot:Connection.Thing.ThingName`. */
export type PolicyVariables = Readonly<Record<string, string>>;

export interface PolicyRequest {
  /** `iot:Connect`, `iot:Publish`, `iot:Subscribe`, `iot:Receive`, `s3:PutObject` … */
  action: string;
  /** A whole ARN. */
  resource: string;
  variables: PolicyVariables;
}

/** A pattern cut at its variables: text whose `*` and `?` are wildcards, and values that are literal. */
interface Piece {
  text: string;
  literal: boolean;
}

const many = <T>(value: OneOrMany<T>): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : [value as T]);

/**
 * Cuts a pattern at its variables. Null when a variable is unknown or empty, which makes the pattern match nothing. `${*}`, `${?}` and `${$}` are the
 * characters themselves.
 */
function cut(pattern: string, variables: PolicyVariables): Piece[] | null {
  const pieces: Piece[] = [];
  let rest = pattern;
  for (let at = rest.indexOf('${'); at >= 0; at = rest.indexOf('${')) {
    const end = rest.indexOf('}', at);
    if (end < 0) return null;
    const name = rest.slice(at + 2, end);
    const value = ['*', '?', '$'].includes(name) ? name : Object.hasOwn(variables, name) ? variables[name] : '';
    if (!value) return null;
    pieces.push({ text: rest.slice(0, at), literal: false }, { text: value, literal: true });
    rest = rest.slice(end + 1);
  }
  return [...pieces, { text: rest, literal: false }];
}

/**
 * Matches greedily, and goes back only to the last `*`: the steps are never more than pattern times text. `literal(at)` says that `pattern[at]` is no wildcard.
 */
function matches(pattern: string, text: string, literal: (at: number) => boolean): boolean {
  let at = 0;
  let done = 0;
  let star = -1;
  let resume = 0;
  const wildcard = (character: string) => pattern[at] === character && !literal(at);
  while (done < text.length) {
    if (at < pattern.length && wildcard('*')) {
      star = at++;
      resume = done;
    } else if (at < pattern.length && (wildcard('?') || pattern[at] === text[done])) {
      at++;
      done++;
    } else if (star >= 0) {
      at = star + 1;
      done = ++resume;
    } else return false;
  }
  while (at < pattern.length && wildcard('*')) at++;
  return at === pattern.length;
}

const neverLiteral = () => false;

/** Whether an ARN or value fits a pattern with `*`, `?` and `${…}`. */
export function isMatch(pattern: string, text: string, variables: PolicyVariables): boolean {
  if (!pattern.includes('${')) {
    const wildcard = pattern.search(/[*?]/);
    if (wildcard < 0) return pattern === text;
    return text.startsWith(pattern.slice(0, wildcard)) && matches(pattern, text, neverLiteral);
  }
  const pieces = cut(pattern, variables);
  if (!pieces) return false;
  const mask = pieces.flatMap((piece) => Array.from({ length: piece.text.length }, () => piece.literal));
  return matches(pieces.map((piece) => piece.text).join(''), text, (at) => mask[at] === true);
}

const speaksOf = (statement: Statement, { action, resource, variables }: PolicyRequest): boolean =>
  many(statement.Action).some((pattern) => isMatch(pattern.toLowerCase(), action.toLowerCase(), {})) &&
  many(statement.Resource).some((pattern) => isMatch(pattern, resource, variables));

/** Whether all documents together allow a request. */
export function isAllowed(documents: readonly PolicyDocument[], request: PolicyRequest): boolean {
  const spoken = documents.flatMap(({ Statement: statements }) => statements).filter((statement) => speaksOf(statement, request));
  return spoken.length > 0 && spoken.every(({ Effect }) => Effect === 'Allow');
}
