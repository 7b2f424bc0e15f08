import type { Request as HttpRequest } from 'express';
import { Body, Get, Middlewares, Post, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { CEREMONY_SECONDS } from '../../auth/ceremonies.ts';
import { listPasskeys } from '../../auth/passkeys.ts';
import { findSession } from '../../auth/sessions.ts';
import { cookieOf, setCookie, setSignInCookies } from '../../http/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { publicWrite } from '../../http/public.ts';
import { visitOf } from '../../http/visits.ts';
import { errors } from '../../errors.ts';
import type { CurrentSession, StatusDone } from './account.model.ts';
import type { PasskeyAnswer, PasskeyInfo, PasskeyNamed, PasskeyRegistration, PasskeyRename, PasskeyRenamed } from './passkeys.model.ts';
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
  /** Only built-in (`platform`) or only separate (`cross-platform`) authenticators. */
  authenticatorAttachment?: 'platform' | 'cross-platform';
  /** Ignored here: the name counts when the passkey is registered. */
  name?: string;
  /** Ignored. */
  context?: string;
}

@Route('api/v1/auth/passkey')
@Tags('Passkeys')
export class PasskeysController extends ApiController {
  private begun({ options, cookie }: CeremonyBegun): Record<string, unknown> {
    setCookie(this.ctx, this.response, 'passkey', cookie, CEREMONY_SECONDS);
    this.response.setHeader('Cache-Control', 'no-store');
    return { ...options };
  }

  /** Options for `navigator.credentials.create`. Needs a session that was begun within a day. */
  @Get('generate-register-options')
  @Security('session')
  public async registrationOptions(@Queries() query: PasskeyOptionsQuery): Promise<Record<string, unknown>> {
    return this.begun(await beginRegistration(this.ctx, this.caller, query.authenticatorAttachment));
  }

  /** Registers the passkey that was made. */
  @Post('verify-registration')
  @Security('session')
  public async register(@Request() request: HttpRequest, @Body() body: PasskeyRegistration): Promise<PasskeyInfo> {
    const cookie = cookieOf(request, 'passkey');
    setCookie(this.ctx, this.response, 'passkey', '', 0);
    return endRegistration(this.ctx, this.caller, { cookie, response: body.response, name: body.name });
  }

  /** Options for `navigator.credentials.get`. */
  @Get('generate-authenticate-options')
  public async authenticationOptions(@Request() request: HttpRequest): Promise<Record<string, unknown>> {
    return this.begun(await beginPasskeySignIn(this.ctx, request.ip ?? ''));
  }

  /** Signs in by the passkey that answered. */
  @Post('verify-authentication')
  @Middlewares(publicWrite)
  public async authenticate(@Request() request: HttpRequest, @Body() body: PasskeyAnswer): Promise<CurrentSession> {
    const cookie = cookieOf(request, 'passkey');
    setCookie(this.ctx, this.response, 'passkey', '', 0);
    const visit = visitOf(request);
    const signedIn = await endPasskeySignIn(this.ctx, visit, { cookie, response: body.response });
    setSignInCookies(this.ctx, this.response, { ...signedIn, browser: visit.browser });
    const session = await findSession(this.ctx.db, signedIn.handle);
    if (!session) throw errors.unauthorized();
    return { session, user: signedIn.user };
  }

  /** Your passkeys. */
  @Get('list-user-passkeys')
  @Security('session')
  public async list(): Promise<PasskeyInfo[]> {
    return listPasskeys(this.ctx.db, this.caller.userId);
  }

  /** Renames a passkey. */
  @Post('update-passkey')
  @Security('session')
  public async rename(@Body() body: PasskeyRename): Promise<PasskeyRenamed> {
    return { passkey: await changePasskey(this.ctx, this.caller, body.id, body.name) };
  }

  /** Deletes a passkey. It ends no session and no other way to sign in. */
  @Post('delete-passkey')
  @Security('session')
  public async remove(@Body() body: PasskeyNamed): Promise<StatusDone> {
    await removePasskey(this.ctx, this.caller, body.id);
    return { status: true };
  }
}
