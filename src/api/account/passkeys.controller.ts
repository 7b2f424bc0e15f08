import { Body, Get, Middlewares, Post, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { CEREMONY_SECONDS } from '../../auth/proofs/ceremonies.ts';
import type { PasskeyInfo } from '../../auth/proofs/passkeys.model.ts';
import { listPasskeys } from '../../auth/proofs/passkeys.ts';
import { findSession } from '../../auth/sessions.ts';
import { readCookie, setCookie, setSignInCookies } from '../../http/callers/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { protectPublicWrite } from '../../http/callers/public.ts';
import { getVisit } from '../../http/callers/visits.ts';
import { errors, refuse } from '../../errors.ts';
import type { CurrentSession, StatusDone } from './account.model.ts';
import type { PasskeyAnswer, PasskeyNamed, PasskeyRegistration, PasskeyRename, PasskeyRenamed } from './passkeys.model.ts';
import {
  beginPasskeySignIn,
  beginRegistration,
  changePasskey,
  endPasskeySignIn,
  endRegistration,
  removePasskey,
  type CeremonyBegun,
} from './passkeys.service.ts';

interface PasskeyOptionsQuery {
  /** Only built-in (`platform`) or only separate (`cross-platform`) authenticators; any when absent. */
  authenticatorAttachment?: 'platform' | 'cross-platform';
  /** Ignored here: the name counts when the passkey is registered. */
  name?: string;
  /** Ignored. */
  context?: string;
}

@Route('api/v1/auth/passkey')
@Tags('Signing in')
export class PasskeysController extends ApiController {
  private begun({ options, cookie }: CeremonyBegun): Record<string, unknown> {
    setCookie(this.ctx, this.response, 'passkey', cookie, CEREMONY_SECONDS);
    this.response.setHeader('Cache-Control', 'no-store');
    return { ...options };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. The session must have been begun within a day, else SESSION_NOT_FRESH (403). Answers
   * the options for `navigator.credentials.create`.
   * @summary Begin to register a passkey
   */
  @Get('generate-register-options')
  @Security('session')
  public async beginPasskeyRegistration(@Queries() query: PasskeyOptionsQuery): Promise<Record<string, unknown>> {
    return this.begun(await beginRegistration(this.ctx, this.caller, query.authenticatorAttachment));
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Ends what `generate-register-options` began in this browser. Refused with
   * CHALLENGE_NOT_FOUND, FAILED_TO_VERIFY_REGISTRATION or PREVIOUSLY_REGISTERED (400), and SESSION_NOT_FRESH (403) when the session was not begun
   * within a day.
   * @summary Register a passkey
   */
  @Post('verify-registration')
  @Security('session')
  public async registerPasskey(@Body() body: PasskeyRegistration): Promise<PasskeyInfo> {
    const cookie = readCookie(this.request, 'passkey');
    setCookie(this.ctx, this.response, 'passkey', '', 0);
    return endRegistration(this.ctx, this.caller, { cookie, response: body.response, name: body.name });
  }

  /**
   * For everybody. Answers the options for `navigator.credentials.get`. Too many from one place refuse with RATE_LIMITED (429).
   * @summary Begin to sign in by a passkey
   */
  @Get('generate-authenticate-options')
  public async beginPasskeySignIn(): Promise<Record<string, unknown>> {
    return this.begun(await beginPasskeySignIn(this.ctx, this.request.ip ?? ''));
  }

  /**
   * For everybody. Signs in by the passkey that answered; the session is set as a cookie. Refused with CHALLENGE_NOT_FOUND (400), PASSKEY_NOT_FOUND or
   * AUTHENTICATION_FAILED (401), and RATE_LIMITED (429).
   * @summary Sign in by a passkey
   */
  @Post('verify-authentication')
  @Middlewares(protectPublicWrite)
  public async signInByPasskey(@Body() body: PasskeyAnswer): Promise<CurrentSession> {
    const cookie = readCookie(this.request, 'passkey');
    setCookie(this.ctx, this.response, 'passkey', '', 0);
    const visit = getVisit(this.request);
    const signedIn = await endPasskeySignIn(this.ctx, visit, { cookie, response: body.response });
    setSignInCookies(this.ctx, this.response, { ...signedIn, browser: visit.browser });
    const session = (await findSession(this.ctx.db, signedIn.handle)) ?? refuse(errors.unauthorized());
    return { session, user: signedIn.user };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Answers everything that is kept of them, and when each last signed in.
   * @summary List your passkeys
   */
  @Get('list-user-passkeys')
  @Security('session')
  public async listPasskeys(): Promise<PasskeyInfo[]> {
    return listPasskeys(this.ctx.db, this.caller.userId);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Somebody else's is PASSKEY_NOT_FOUND (404).
   * @summary Rename a passkey
   */
  @Post('update-passkey')
  @Security('session')
  public async renamePasskey(@Body() body: PasskeyRename): Promise<PasskeyRenamed> {
    return { passkey: await changePasskey(this.ctx, this.caller, body.id, body.name) };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. It ends no session and no other way to sign in. The only way to sign in refuses with
   * FAILED_TO_UNLINK_LAST_ACCOUNT (400); somebody else's is PASSKEY_NOT_FOUND (404).
   * @summary Delete a passkey
   */
  @Post('delete-passkey')
  @Security('session')
  public async deletePasskey(@Body() body: PasskeyNamed): Promise<StatusDone> {
    await removePasskey(this.ctx, this.caller, body.id);
    return { status: true };
  }
}
