import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACTIONS, RESOURCE_TYPES, type ResourceType } from '../../src/authorization/roles.ts';
import { sql } from '../../src/database/sql.ts';
import { proveCase } from '../support/cases.ts';
import { accessCases, type AccessCase } from '../support/operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { listGrantActions, listRoleActions } from './role-matrix.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ WORKER: 'off' });
});
afterAll(() => site.stop());

/** Every other case is asked of an experiment, which has an action that the others have not, the rest of the other types in turn; the soak asks all six. */
const typeOf = (each: AccessCase, index: number): ResourceType =>
  each.types?.[0] ?? (index % 2 === 0 ? 'experiment' : (OTHERS[((index - 1) / 2) % OTHERS.length] ?? 'macro'));
const OTHERS = RESOURCE_TYPES.filter((type) => type !== 'experiment');

test('there are 300 cases or more, and no two of one name', () => {
  expect(accessCases.length).toBeGreaterThanOrEqual(300);
  expect(new Set(accessCases.map(({ name }) => name)).size).toBe(accessCases.length);
});

test.each(accessCases.map((each, index) => ({ each, index, name: each.name })))('$name, by SQL and over HTTP', async ({ each, index }) => {
  expect(await proveCase(site, each, [typeOf(each, index)])).toBeGreaterThan(ACTIONS.length);
});

test('the pure matrix and the generated columns read every role string alike', async () => {
  const seed = process.env['FC_SEED'] === undefined ? undefined : Number(process.env['FC_SEED']);
  const odd = fc.constantFrom(
    ' ',
    '\t',
    '\n',
    '\v',
    '\f',
    '\r',
    '\u00a0',
    '\u1680',
    '\u2000',
    '\u200a',
    '\u200b',
    '\u2028',
    '\u2029',
    '\u202f',
    '\u205f',
    '\u3000',
    '\ufeff',
    '\u0085',
    '\u180e',
  );
  const part = fc.oneof(
    fc.constantFrom('owner', 'admin', 'member', 'viewer', 'Owner', 'own', ',', ',,'),
    odd,
    fc.string({ maxLength: 3 }).map((text) => text.replaceAll('\u0000', '')),
  );
  const role = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(role, { minLength: 50, maxLength: 50 }), async (roles) => {
      const rows = await site.db.rows<{
        isOwner: boolean;
        isAdmin: boolean;
        isMember: boolean;
        all: boolean;
        read: boolean;
      }>(sql('t')`
        select 'owner' = any (role_tokens(role_trimmed(role))) as "isOwner", role_tokens(role_trimmed(role)) && array['owner', 'admin'] as "isAdmin",
          role_tokens(role_trimmed(role)) && array['owner', 'admin', 'member'] as "isMember",
          role in ('owner', 'admin') as "all", role in ('owner', 'admin', 'viewer') as "read"
        from unnest(${roles}::text[]) with ordinality as given (role, position) order by position`);
      for (const [index, given] of roles.entries()) {
        const row = rows[index]!;
        for (const type of RESOURCE_TYPES) {
          const actions = listRoleActions(given, type);
          expect([given, actions.has('manage'), actions.has('read'), actions.has('contribute')]).toEqual([
            given,
            row.isAdmin,
            row.isMember,
            row.isAdmin || (row.isMember && type === 'experiment'),
          ]);
          const granted = listGrantActions(given, type);
          expect([given, granted.has('manage'), granted.has('read')]).toEqual([given, row.all, row.read]);
        }
      }
    }),
    { numRuns: 40, ...(seed === undefined ? {} : { seed }) },
  );
});
