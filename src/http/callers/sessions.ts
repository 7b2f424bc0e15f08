import type { Request, Response } from 'express';
import { validateSession } from '../../auth/sessions.ts';
import { admitSession, type Question, type SessionAdmission } from './authentication.queries.ts';
import { readCookie, setSessionCookie } from './cookies.ts';
import { getContext } from '../exchange.ts';

/**
 * The session that the cookie of a request opens, and whether it may do what `question` asks; null without a session. Where the session was renewed, the
 * answer sets the cookie again.
 */
export async function admitBySession(
  request: Request,
  response: Response,
  question: Question | null = null,
): Promise<SessionAdmission | null> {
  const token = readCookie(request, 'session');
  if (token === undefined) return null;
  const ctx = getContext(request);
  const admission = await validateSession(token, (hash) => admitSession(ctx.admission, hash, question));
  if (admission?.renewed === true) setSessionCookie(ctx, response, token);
  return admission;
}
