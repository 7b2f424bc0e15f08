import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { LinkedAccount } from './providers.model.ts';

export const findLinkedUser = (db: Queryable, provider: string, accountId: string) =>
  db.value<string>(sql('account.findLinkedUser')`
    select a.user_id from provider_accounts a join users u on u.id = a.user_id and u.deleted_at is null
    where a.provider = ${provider} and a.account_id = ${accountId}`);

/** Links an account of a provider. Answers 0 when it is linked already. */
export const insertLinkedAccount = (db: Queryable, account: { id: string; userId: string; provider: string; accountId: string }) =>
  db.run(sql('account.insertLinkedAccount')`
    insert into provider_accounts (id, user_id, provider, account_id) values (${account.id}, ${account.userId}, ${account.provider}, ${account.accountId})
    on conflict (provider, account_id) do nothing`);

export const listLinkedAccounts = (db: Queryable, userId: string) =>
  db.rows<LinkedAccount>(sql('account.listLinkedAccounts')`
    select id, provider as "providerId", account_id as "accountId", user_id as "userId", array[]::text[] as scopes, created_at as "createdAt",
      updated_at as "updatedAt"
    from provider_accounts where user_id = ${userId} order by created_at, id`);

/** Removes a person's link to an account at a provider; without `accountId`, all of the person's links to that provider. */
export const deleteLinkedAccount = (db: Queryable, userId: string, provider: string, accountId: string | null) =>
  db.run(sql('account.deleteLinkedAccount')`
    delete from provider_accounts where user_id = ${userId} and provider = ${provider} and (${accountId}::text is null or account_id = ${accountId})`);
