import { Body, Get, Middlewares, Post, Route, Tags } from '@tsoa/runtime';
import { findSession } from '../../auth/sessions.ts';
import { errors } from '../../errors.ts';
import { clearSessionCookie, setSignInCookies } from '../../http/callers/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { protectPublicWrite } from '../../http/callers/public.ts';
import { admitBySession } from '../../http/callers/sessions.ts';
import { isFromThisMachine, getVisit } from '../../http/callers/visits.ts';
import type {
  CurrentSession,
  LayerAnswers,
  LinkSignInResult,
  SendCode,
  SignInByCode,
  SignInByLink,
  SignInResult,
  Succeeded,
} from './account.model.ts';
import { findAccountUser } from './account.queries.ts';
import { revokeSession } from './sessions.service.ts';
import { sendCode, signInByCode, signInByLink } from './sign-in.service.ts';

@Route('api/v1/auth')
@Tags('Signing in')
export class SignInController extends ApiController {
  /**
   * For everybody. Sends a one-time code to an address, whether or not it has an account. At most 5 in 10 minutes go to one address, else
   * RATE_LIMITED (429). What is no address refuses with INVALID_EMAIL (400).
   * @summary Send a sign-in code
   */
  @Post('email-otp/send-verification-otp')
  @Middlewares(protectPublicWrite)
  public async sendSignInCode(@Body() body: SendCode): Promise<Succeeded> {
    await sendCode(this.ctx, getVisit(this.request), body.email);
    return { success: true };
  }

  /**
   * For everybody who has the code of the newest letter. The first time at an address, this makes the account. The session is set as a cookie.
   * Refused with INVALID_OTP or OTP_EXPIRED (400), TOO_MANY_ATTEMPTS (403), and RATE_LIMITED (429).
   * @summary Sign in by a code
   */
  @Post('sign-in/email-otp')
  @Middlewares(protectPublicWrite)
  public async signInByCode(@Body() body: SignInByCode): Promise<SignInResult> {
    const visit = getVisit(this.request);
    const signedIn = await signInByCode(this.ctx, visit, { email: body.email, otp: body.otp, name: body.name ?? '' });
    setSignInCookies(this.ctx, this.response, { ...signedIn, browser: visit.browser });
    return { token: signedIn.handle, user: signedIn.user };
  }

  /**
   * For whoever holds a link that the start of the service printed, on the machine that it runs on. The link works once, for ten minutes; the session is
   * set as a cookie. Refused with SIGN_IN_LINK_ELSEWHERE (403), SIGN_IN_LINK_INVALID (400) when it is over, and RATE_LIMITED (429).
   * @summary Sign in by a printed link
   */
  @Post('sign-in/link')
  @Middlewares(protectPublicWrite)
  public async signInByLink(@Body() body: SignInByLink): Promise<LinkSignInResult> {
    if (!isFromThisMachine(this.request)) throw errors.signInLinkElsewhere();
    const visit = getVisit(this.request);
    const { signedIn, target } = await signInByLink(this.ctx, visit, body.token);
    setSignInCookies(this.ctx, this.response, { ...signedIn, browser: visit.browser });
    return { token: signedIn.handle, user: signedIn.user, target };
  }

  /**
   * For everybody. Answers the session and its account, or null. It is always read from the store: a revoked session is null at once.
   * @summary Read the session of this browser
   */
  @Get('get-session')
  public async getSession(): Promise<CurrentSession | null> {
    this.response.setHeader('Cache-Control', 'no-store');
    const admission = await admitBySession(this.request, this.response);
    if (!admission) return null;
    const [session, user] = await Promise.all([findSession(this.ctx.db, admission.handle), findAccountUser(this.ctx.db, admission.userId)]);
    return session && user ? { session, user } : null;
  }

  /**
   * For everybody. Whether the authentication layer answers.
   * @summary Check that signing in works
   */
  @Get('ok')
  public checkAuthentication(): LayerAnswers {
    return { ok: true };
  }

  /**
   * For everybody. Ends the session of this browser, at once and everywhere. Without a session nothing happens.
   * @summary Sign out
   */
  @Post('sign-out')
  @Middlewares(protectPublicWrite)
  public async signOut(): Promise<Succeeded> {
    const admission = await admitBySession(this.request, this.response);
    const { requestId } = this.exchange;
    if (admission) await revokeSession(this.ctx, { userId: admission.userId, requestId }, admission.handle, 'sign-out');
    this.response.removeHeader('Set-Cookie');
    clearSessionCookie(this.ctx, this.response);
    return { success: true };
  }
}
