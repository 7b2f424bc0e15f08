import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Database } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { findUserByEmail, insertMember, insertPersonalOrganization, insertUser, upsertProfile } from './account.queries.ts';

export interface NewUser {
  email: string;
  firstName: string;
  lastName: string;
  /** Whether the address is proven; an operator's word counts. */
  verified: boolean;
}

/** Makes an account with its personal workspace, of which it is the permanent sole owner. Errors: conflict when the address has an account. */
export const createUser = (db: Database, user: NewUser): Promise<{ id: string; organizationId: string }> =>
  db.transaction(async (tx) => {
    const id = randomUUIDv7();
    const name = `${user.firstName} ${user.lastName}`;
    if ((await insertUser(tx, { id, email: user.email, name, verified: user.verified })) === 0)
      throw errors.conflict().with({ problems: [{ path: 'email', message: 'this address has an account' }] });
    const organizationId = randomUUIDv7();
    await insertPersonalOrganization(tx, { id: organizationId, userId: id, name: `${name}'s workspace` });
    await insertMember(tx, { id: randomUUIDv7(), organizationId, userId: id, role: 'owner' });
    await upsertProfile(tx, { userId: id, firstName: user.firstName, lastName: user.lastName });
    await audit(tx, null, { action: 'user.created', subjectId: id, organizationId });
    return { id, organizationId };
  });

/** The account of an address, if there is one. */
export const userOfEmail = async (db: Database, email: string): Promise<string | undefined> => (await findUserByEmail(db, email))?.id;
