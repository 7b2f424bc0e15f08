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

const many = <T>(value: OneOrMany<T>): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : [value as T]);

const literally = (text: string): string => text.replaceAll(/\W/g, '\\$&');

/**
 * Whether an ARN or value fits a pattern with `*`, `?` and `${…}`. One with an unknown or empty variable fits nothing. `${*}`, `${?}` and `${$}` are the
 * characters themselves. Patterns are our own and have few wildcards: one of somebody else could take very long.
 */
export function isMatch(pattern: string, text: string, variables: PolicyVariables): boolean {
  const plain = pattern.search(/[*?]|\$\{/);
  if (plain < 0) return pattern === text;
  // of a hundred patterns most end here
  if (!text.startsWith(pattern.slice(0, plain))) return false;
  const expression = pattern.replaceAll(/\$\{([^}]*)\}|[^]/g, (part, name?: string) => {
    if (name === undefined) return part === '*' ? '.*' : part === '?' ? '.' : literally(part);
    const value = ['*', '?', '$'].includes(name) ? name : Object.hasOwn(variables, name) ? variables[name] : '';
    return value ? literally(value) : '(?!)';
  });
  return new RegExp(`^${expression}$`, 's').test(text);
}

const speaksOf = (statement: Statement, { action, resource, variables }: PolicyRequest): boolean =>
  many(statement.Action).some((pattern) => isMatch(pattern.toLowerCase(), action.toLowerCase(), {})) &&
  many(statement.Resource).some((pattern) => isMatch(pattern, resource, variables));

/** Whether all documents together allow a request. */
export function isAllowed(documents: readonly PolicyDocument[], request: PolicyRequest): boolean {
  const spoken = documents.flatMap(({ Statement: statements }) => statements).filter((statement) => speaksOf(statement, request));
  return spoken.length > 0 && spoken.every(({ Effect }) => Effect === 'Allow');
}
