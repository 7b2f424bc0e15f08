import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { insertLink, takeLink } from './links.queries.ts';
import { hashToken } from '../seal.ts';

const LINK_SECONDS = 600;

/** Makes a link that signs a person in, once, within ten minutes. The token is returned here and nowhere else. `target`: the path to go to. */
export async function issueLink(db: Queryable, link: { userId: string; target: string }): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await insertLink(db, { ...link, tokenHash: hashToken(token), seconds: LINK_SECONDS });
  return token;
}

/** Spends a link. Returns whom it signs in and where it leads; undefined when it was spent, has expired or is not ours. */
export const redeemLink = (tx: Queryable, token: string): Promise<{ userId: string; target: string } | undefined> =>
  takeLink(tx, hashToken(token));
