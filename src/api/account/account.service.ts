import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { cleanName } from '../../contract/names.ts';
import { errors } from '../../errors.ts';
import { insertMember, insertPersonalOrganization, insertUser, upsertProfile } from './account.queries.ts';

export { findUserByEmail } from './account.queries.ts';

export interface NewAccount {
  /** Null for a person who came from a provider that proved no address. */
  email: string | null;
  /** Empty when the person has not said. */
  name: string;
  /** Whether the address is proven. */
  verified: boolean;
}

/** Makes an account with its personal workspace, whose permanent sole owner it is. Answers null when the address already has an account. */
export async function createAccount(tx: Transaction, account: NewAccount): Promise<{ id: string; organizationId: string } | null> {
  const id = randomUUIDv7();
  const name = cleanName(account.name);
  if ((await insertUser(tx, { id, email: account.email, name, verified: account.verified })) === 0) return null;
  const organizationId = randomUUIDv7();
  await insertPersonalOrganization(tx, {
    id: organizationId,
    userId: id,
    name: name === '' ? 'Personal workspace' : `${name.slice(0, 240)}'s workspace`,
  });
  await insertMember(tx, { id: randomUUIDv7(), organizationId, userId: id, role: 'owner' });
  await audit(tx, null, { action: 'user.created', subjectId: id, organizationId });
  return { id, organizationId };
}

export interface NewUser {
  email: string;
  firstName: string;
  lastName: string;
  /** Whether the address is proven. An operator's word counts as proof. */
  verified: boolean;
}

/** Makes an account with a profile. Errors: conflict when the address has an account. */
export const createUser = (db: Database, user: NewUser): Promise<{ id: string; organizationId: string }> =>
  db.transaction(async (tx) => {
    const made = await createAccount(tx, { email: user.email, name: `${user.firstName} ${user.lastName}`, verified: user.verified });
    if (!made) throw errors.conflict().with({ problems: [{ path: '/email', message: 'this address has an account' }] });
    await upsertProfile(tx, { userId: made.id, firstName: user.firstName, lastName: user.lastName });
    return made;
  });
