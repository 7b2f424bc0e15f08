import { Body, Get, Post, Route, Security, Tags } from '@tsoa/runtime';
import type { AccountSession } from '../../auth/sessions.model.ts';
import { listSessions } from '../../auth/sessions.ts';
import { isUuid } from '../../database/uuid.ts';
import { clearSessionCookie } from '../../http/callers/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import type { AccountUpdate, RevokeSession, StatusDone } from './account.model.ts';
import { revokeSession, revokeSessions, updateAccount } from './sessions.service.ts';

@Route('api/v1/auth')
@Tags('Account')
@Security('session')
export class SessionsController extends ApiController {
  /**
   * For yourself, by a session: API keys are not accepted here. Answers the sessions that are still open, newest first.
   * @summary List your sessions
   */
  @Get('list-sessions')
  public async listSessions(): Promise<AccountSession[]> {
    return listSessions(this.ctx.db, this.caller.userId);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. It is refused from the next call on. One that is not yours, or has ended, is no
   * error.
   * @summary End one of your sessions
   */
  @Post('revoke-session')
  public async revokeSession(@Body() body: RevokeSession): Promise<StatusDone> {
    if (isUuid(body.token)) await revokeSession(this.ctx, this.caller, body.token, 'revocation');
    return { status: true };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. This one ends too.
   * @summary End all your sessions
   */
  @Post('revoke-sessions')
  public async revokeAllSessions(): Promise<StatusDone> {
    await revokeSessions(this.ctx, this.caller, false);
    clearSessionCookie(this.ctx, this.response);
    return { status: true };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. This one stays.
   * @summary End all your other sessions
   */
  @Post('revoke-other-sessions')
  public async revokeOtherSessions(): Promise<StatusDone> {
    await revokeSessions(this.ctx, this.caller, true);
    return { status: true };
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Changes the name or the picture of your account. An `email` refuses with
   * EMAIL_CAN_NOT_BE_UPDATED, a call that gives nothing with VALIDATION_ERROR (400).
   * @summary Change your account
   */
  @Post('update-user')
  public async updateAccount(@Body() body: AccountUpdate): Promise<StatusDone> {
    await updateAccount(this.ctx, this.caller, body);
    return { status: true };
  }
}
