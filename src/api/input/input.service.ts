import type { z } from 'zod';
import { ApiError, errors, type Problem } from '../../errors.ts';
import { isNestedDeeper } from '../../json.ts';

/** How deep a JSON value that we keep may nest. */
const DEEPEST = 64;

const pathOf = (root: string, path: readonly PropertyKey[]) =>
  path.reduce<string>((text, part) => `${text}/${String(part).slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`, root);

/** Says what a broken rule asks for, in the words in which the contract says it of a body. */
function printIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_format' && issue.format === 'guid') return 'must be a UUID';
  if (issue.code === 'too_big' && issue.origin === 'string') return `must have at most ${String(issue.maximum)} characters`;
  if (issue.code === 'too_big' && issue.origin === 'number') return `must be at most ${String(issue.maximum)}`;
  if (issue.code === 'too_small' && issue.origin === 'number') return `must be at least ${String(issue.minimum)}`;
  // that nothing was sent stands in the message alone
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined') ? 'is required' : issue.message;
}

function problemsOf(root: string, issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.slice(0, 20).flatMap((issue): Problem[] => {
    const path = pathOf(root, issue.path);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, 5).map((key) => ({ path, message: `has no member '${key.slice(0, 64)}'.` }));
    return [{ path, message: printIssue(issue) }];
  });
}

/** Makes the refusal of a body that breaks rules which no schema can express. */
export const refuseBody = (problems: readonly Problem[]) => errors.invalidInput().with({ problems });

/** Finds what holds a member called `__proto__`, which zod would leave out without a word. */
function findProto(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return [];
    const path = findProto(inner);
    if (path) return [key, ...path];
  }
  return undefined;
}

/**
 * Reads a JSON value by a bounded shape. The published API document is made from the same shape, so a body has been checked by it already. Defaults are filled
 * in. Members that the shape does not know are left out, or refused where it is strict. `root` is the path that problems start with (`/widgets`). Errors: invalid input, naming up to
 * twenty places and never a value.
 */
export function readShape<T>(schema: z.ZodType<T>, value: unknown, root = ''): T {
  if (isNestedDeeper(value, DEEPEST)) throw refuseBody([{ path: root, message: `is nested deeper than ${DEEPEST} levels` }]);
  const proto = findProto(value);
  if (proto)
    throw refuseBody([{ path: pathOf(root, proto), message: "has a member '__proto__', which is not kept; give it another name" }]);
  const result = schema.safeParse(value);
  if (!result.success) throw refuseBody(problemsOf(root, result.error.issues));
  return result.data;
}

/** Prints a value as the JSON that is kept of it. `path` is where the body has it (`/metadata`). Errors: invalid input beyond `most` characters. */
export function printBounded(value: unknown, path: string, most: number): string {
  const text = JSON.stringify(value);
  if (text.length > most) throw refuseBody([{ path, message: `has ${text.length} characters as JSON; at most ${most} are kept` }]);
  return text;
}

/** Lists which members a body gives a value. Whatever else it holds is no change. `members` names all that the body's type has. */
export const listGiven = <T extends object>(body: T, members: Record<keyof T & string, true>): string[] =>
  Object.keys(members).filter((member) => body[member as keyof T] !== undefined);

/** Runs a check of a query whose parts were sent in the body. Problems that it finds in the query are told as problems of the body. */
export async function blameBody<T>(check: () => Promise<T> | T): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof ApiError && error.details.problems)
      error.with({ problems: error.details.problems.map(({ path, message }) => ({ path: path.replace(/^\?/, '/'), message })) });
    throw error;
  }
}

/** Something as a call names it for a change, and the versions in which it may be changed; null: any. */
export interface Target {
  id: string;
  versions: readonly number[] | null;
}

/** A resource as it is answered without an entity tag. */
export const dropVersion = <T extends { version: number }>({ version: _version, ...rest }: T): Omit<T, 'version'> => rest;

/** Refuses to change what is not in one of the versions that If-Match accepts. Errors: preconditionFailed. */
export function requireExpected(version: number, versions: readonly number[] | null): void {
  if (versions && !versions.includes(version)) throw errors.preconditionFailed();
}

const ADDRESS = /^[^\s@,;:<>()[\]\\"]{1,64}@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u;

/** Lower-cases and trims an address, as addresses are compared. Errors: invalidEmail. */
export function canonicaliseAddress(email: string): string {
  const address = email.trim().toLowerCase();
  if (address.length > 254 || !ADDRESS.test(address) || /[\u0000-\u001f\u007f]/.test(address)) throw errors.invalidEmail();
  return address;
}
