import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { RESOURCE_TYPES, TRANSFERABLE, type Action, type ResourceType } from '../../src/authorization/roles.ts';
import type { OpenApiDocument } from '../../src/contract/operations.ts';

/** What an operation asks of its caller, as fixtures/access/operations.yaml says. */
export interface OperationRow {
  method: string;
  path: string;
  asks: string;
}

const file = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', 'fixtures', 'access', name), 'utf8');

export const operationRows: readonly OperationRow[] = Object.entries(parse(file('operations.yaml')) as Record<string, string>).map(
  ([name, asks]) => {
    const [method = '', path = ''] = name.split(' ');
    return { method, path, asks };
  },
);

export interface AccessCase {
  name: string;
  types?: ResourceType[];
  given: {
    membership?: string;
    grant?: string;
    team?: string;
    organization?: string;
    as?: string;
    elsewhere?: true;
    outsideTeam?: string;
    secondTeam?: string;
    homeTeam?: string;
    deletedTeam?: string;
    otherMembership?: string;
    foreignGrant?: string;
    revoked?: string;
    left?: true;
    outsideOrganization?: string;
    visibility?: 'public';
    publicFrom?: 'past' | 'future';
    husk?: true;
    author?: true;
    missing?: true;
  };
  answer: 'no' | 'missing' | { all?: string; member?: string; rest?: string; read?: string };
}

export const accessCases = parse(file('cases.yaml')) as AccessCase[];

/** What the published document says that an operation asks. */
export function askedBy(security: Record<string, string[]>[] | undefined): string {
  const [scheme, scopes] = Object.entries(security?.[0] ?? {})[0] ?? [];
  if (scheme === undefined) return 'public';
  if (scheme !== 'caller') return scheme;
  return scopes?.[0] ?? 'signed-in';
}

export const servedOperations = (document: OpenApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security }]) => ({ method: method.toUpperCase(), path, asks: askedBy(security) })),
  );

/** Rows of what is served now. */
export function servedRows(document: OpenApiDocument): OperationRow[] {
  const names = new Set(servedOperations(document).map(({ method, path }) => `${method} ${path}`));
  return operationRows.filter(({ method, path }) => names.has(`${method} ${path}`));
}

/** The guard of a row for each type that it may be asked about; none when it asks for no resource. What cannot be transferred is refused before any guard. */
export function guardsOf({ asks }: OperationRow): { type: ResourceType; action: Action }[] {
  const [type, verb] = asks.split(':') as [ResourceType | 'resource', Action | 'transfer' | undefined];
  if (verb === undefined) return [];
  const types = type === 'resource' ? RESOURCE_TYPES : [type];
  if (verb === 'transfer') return types.filter((each) => TRANSFERABLE[each]).map((each) => ({ type: each, action: 'manage' }));
  return types.map((each) => ({ type: each, action: verb }));
}
