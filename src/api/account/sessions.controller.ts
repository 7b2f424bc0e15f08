import { Body, Get, Post, Route, Security, Tags } from '@tsoa/runtime';
import { listSessions } from '../../auth/sessions.ts';
import { isUuid } from '../../database/uuid.ts';
import { clearSessionCookie } from '../../http/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import type { AccountSession, AccountUpdate, RevokeSession, StatusDone } from './account.model.ts';
import { revokeSession, revokeSessions, updateAccount } from './sessions.service.ts';

@Route('api/v1/auth')
@Tags('Account')
@Security('session')
export class SessionsController extends ApiController {
  /** Your sessions, newest first. */
  @Get('list-sessions')
  public async list(): Promise<AccountSession[]> {
    return listSessions(this.ctx.db, this.caller.userId);
  }

  /** Ends a session of yours; it is refused from the next call on. */
  @Post('revoke-session')
  public async revoke(@Body() body: RevokeSession): Promise<StatusDone> {
    if (isUuid(body.token)) await revokeSession(this.ctx, this.caller, body.token);
    return { status: true };
  }

  /** Ends all your sessions, this one included. */
  @Post('revoke-sessions')
  public async revokeAll(): Promise<StatusDone> {
    await revokeSessions(this.ctx, this.caller, false);
    clearSessionCookie(this.ctx, this.response);
    return { status: true };
  }

  /** Ends all your sessions but this one. */
  @Post('revoke-other-sessions')
  public async revokeOthers(): Promise<StatusDone> {
    await revokeSessions(this.ctx, this.caller, true);
    return { status: true };
  }

  /** Changes the name or the picture of your account. */
  @Post('update-user')
  public async update(@Body() body: AccountUpdate): Promise<StatusDone> {
    await updateAccount(this.ctx, this.caller, body);
    return { status: true };
  }
}
