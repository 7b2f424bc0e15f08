import type { Request as HttpRequest } from 'express';
import { Body, Get, Middlewares, Post, Request, Route, Tags } from '@tsoa/runtime';
import { findSession } from '../../auth/sessions.ts';
import { clearSessionCookie, setSignInCookies } from '../../http/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { publicWrite } from '../../http/public.ts';
import { sessionOf } from '../../http/sessions.ts';
import { visitOf } from '../../http/visits.ts';
import type { CurrentSession, LayerAnswers, SendCode, SignInByCode, SignInResult, Succeeded } from './account.model.ts';
import { findAccountUser } from './account.queries.ts';
import { endOwnSession } from './sessions.service.ts';
import { sendCode, signInByCode } from './sign-in.service.ts';

@Route('api/v1/auth')
@Tags('Signing in')
export class SignInController extends ApiController {
  /** Sends a one-time code to an address, whether or not it has an account. At most 5 in 10 minutes go to one address. */
  @Post('email-otp/send-verification-otp')
  @Middlewares(publicWrite)
  public async sendCode(@Request() request: HttpRequest, @Body() body: SendCode): Promise<Succeeded> {
    await sendCode(this.ctx, visitOf(request), body.email);
    return { success: true };
  }

  /** Signs in by the code of the newest letter; the first time at an address, this makes the account. The session is set as a cookie. */
  @Post('sign-in/email-otp')
  @Middlewares(publicWrite)
  public async signInByCode(@Request() request: HttpRequest, @Body() body: SignInByCode): Promise<SignInResult> {
    const visit = visitOf(request);
    const signedIn = await signInByCode(this.ctx, visit, { email: body.email, otp: body.otp, name: body.name ?? '' });
    setSignInCookies(this.ctx, this.response, { ...signedIn, browser: visit.browser });
    return { token: signedIn.handle, user: signedIn.user };
  }

  /** The session of this browser and its account, or null. Always read from the store: a revoked session is null at once. */
  @Get('get-session')
  public async session(@Request() request: HttpRequest): Promise<CurrentSession | null> {
    this.response.setHeader('Cache-Control', 'no-store');
    const admission = await sessionOf(request, this.response);
    if (!admission) {
      this.response.status(200).json(null);
      return null;
    }
    const [session, user] = await Promise.all([findSession(this.ctx.db, admission.handle), findAccountUser(this.ctx.db, admission.userId)]);
    return session && user ? { session, user } : null;
  }

  /** Whether the authentication layer answers. */
  @Get('ok')
  public ok(): LayerAnswers {
    return { ok: true };
  }

  /** Ends the session of this browser, at once and everywhere. */
  @Post('sign-out')
  @Middlewares(publicWrite)
  public async signOut(@Request() request: HttpRequest): Promise<Succeeded> {
    const admission = await sessionOf(request, this.response);
    if (admission) await endOwnSession(this.ctx, admission, this.exchange.requestId);
    this.response.removeHeader('Set-Cookie');
    clearSessionCookie(this.ctx, this.response);
    return { success: true };
  }
}
