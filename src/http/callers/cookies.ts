import type { Request, Response } from 'express';
import { BROWSER_SECONDS, hashBrowserCookie, makeBrowserCookie } from '../../auth/browsers.ts';
import { printCookie, listCookieNames, LAST_METHOD_COOKIE, parseCookies, type CookieNames } from '../../auth/cookies.ts';
import { SESSION_SECONDS, type SignInMethod } from '../../auth/sessions.ts';
import type { Context } from '../../context.ts';
import { getContext } from '../exchange.ts';

const isSecure = (ctx: Context) => ctx.baseUrl.startsWith('https:');
const placeOf = (ctx: Context) => ({ secure: isSecure(ctx), domain: ctx.config.web.cookieDomain });

export const readCookie = (request: Request, name: keyof CookieNames): string | undefined =>
  parseCookies(request.get('cookie')).get(listCookieNames(isSecure(getContext(request)))[name]);

/** Sets a cookie of ours; with 0 seconds, removes it. */
export function setCookie(ctx: Context, response: Response, name: keyof CookieNames, value: string, maxAge: number): void {
  response.append('Set-Cookie', printCookie(listCookieNames(isSecure(ctx))[name], value, { maxAge, ...placeOf(ctx) }));
}

/** Sets the session cookie, with its whole life ahead. */
export const setSessionCookie = (ctx: Context, response: Response, token: string): void =>
  setCookie(ctx, response, 'session', token, SESSION_SECONDS);

export const clearSessionCookie = (ctx: Context, response: Response): void => setCookie(ctx, response, 'session', '', 0);

/** Sets the cookies of every sign-in: the session, the browser's id, and the method that was used, as a hint for the next time. */
export function setSignInCookies(ctx: Context, response: Response, signIn: { token: string; method: SignInMethod; browser: string }): void {
  setSessionCookie(ctx, response, signIn.token);
  setCookie(ctx, response, 'browser', signIn.browser, BROWSER_SECONDS);
  const hint = printCookie(LAST_METHOD_COOKIE, signIn.method, { maxAge: SESSION_SECONDS, ...placeOf(ctx), httpOnly: false });
  response.append('Set-Cookie', hint);
  response.setHeader('Cache-Control', 'no-store');
}

/** The browser cookie that a request brought, or a new one. */
export function ensureBrowserCookie(request: Request): string {
  const { secret } = getContext(request).config;
  const brought = readCookie(request, 'browser');
  return brought !== undefined && hashBrowserCookie(secret, brought) ? brought : makeBrowserCookie(secret);
}
