import type { Request as HttpRequest } from 'express';
import { Get, Hidden, Query, Request, Route } from '@tsoa/runtime';
import { listPasskeys } from '../../auth/passkeys.ts';
import { listSessions } from '../../auth/sessions.ts';
import { ApiController } from '../../http/controllers.ts';
import { sendPage } from '../../http/pages.ts';
import { sessionOf } from '../../http/sessions.ts';
import { keysOf } from '../credentials/credentials.service.ts';
import { findAccountUser, findOwnProfile } from './account.queries.ts';
import { accountBody, invitationsBody, signInBody } from './pages.ts';
import { listLinkedAccounts } from './providers.queries.ts';

const OWN_PATH = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/;

/** Small pages that stand on their own: signing in, the account, invitations. */
@Route('platform')
@Hidden()
export class PagesController extends ApiController {
  @Get('sign-in')
  public async signIn(@Request() request: HttpRequest, @Query() next?: string): Promise<void> {
    const target = next !== undefined && OWN_PATH.test(next) ? next : '/platform/account';
    if (await sessionOf(request, this.response)) {
      this.response.redirect(303, target);
      return;
    }
    const { github, orcid } = this.ctx.config.providers;
    sendPage(this.response, {
      title: 'Sign in',
      script: 'sign-in.js',
      body: signInBody({ next: target, github: github !== undefined, orcid: orcid !== undefined }),
    });
  }

  @Get('account')
  public async account(@Request() request: HttpRequest): Promise<void> {
    const session = await sessionOf(request, this.response);
    const user = session ? await findAccountUser(this.ctx.db, session.userId) : undefined;
    if (!session || !user) {
      this.response.redirect(303, '/platform/sign-in');
      return;
    }
    const { db } = this.ctx;
    const [profile, sessions, passkeys, keys, linked] = await Promise.all([
      findOwnProfile(db, user.id),
      listSessions(db, user.id),
      listPasskeys(db, user.id),
      keysOf(this.ctx, user.id),
      listLinkedAccounts(db, user.id),
    ]);
    sendPage(this.response, {
      title: 'Your account',
      script: 'account.js',
      signedIn: true,
      body: accountBody({ user, profile, sessions, own: session.handle, passkeys, keys, linked }),
    });
  }

  @Get('account/invitations')
  public async invitations(@Request() request: HttpRequest): Promise<void> {
    if (!(await sessionOf(request, this.response))) {
      this.response.redirect(303, '/platform/sign-in?next=/platform/account/invitations');
      return;
    }
    sendPage(this.response, { title: 'Invitations', script: 'invitations.js', signedIn: true, body: invitationsBody() });
  }
}
