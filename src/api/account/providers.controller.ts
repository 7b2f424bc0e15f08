import type { Request as HttpRequest } from 'express';
import { Body, Get, Middlewares, Path, Post, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { CEREMONY_SECONDS } from '../../auth/ceremonies.ts';
import { cookieOf, setCookie, setSignInCookies } from '../../http/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { failurePage } from '../../http/pages.ts';
import { publicWrite } from '../../http/public.ts';
import { sessionOf } from '../../http/sessions.ts';
import { visitOf } from '../../http/visits.ts';
import type { StatusDone } from './account.model.ts';
import type { LinkedAccount, OAuthSignIn, ProviderRedirect, SocialSignIn, UnlinkAccount } from './providers.model.ts';
import { listLinkedAccounts } from './providers.queries.ts';
import { beginProvider, endProvider, unlinkProvider } from './providers.service.ts';

@Route('api/v1/auth')
@Tags('Sign-in providers')
export class ProvidersController extends ApiController {
  private async begin(request: HttpRequest, asked: OAuthSignIn, linkTo: string | null): Promise<ProviderRedirect> {
    const { url, cookie } = await beginProvider(this.ctx, asked, { ip: request.ip ?? '', linkTo });
    setCookie(this.ctx, this.response, 'provider', cookie, CEREMONY_SECONDS);
    return { url, redirect: asked.disableRedirect !== true };
  }

  private async end(request: HttpRequest, provider: string): Promise<void> {
    const current = await sessionOf(request, this.response);
    const visit = visitOf(request);
    const outcome = await endProvider(this.ctx, visit, {
      provider,
      query: new URL(request.originalUrl, 'http://localhost').search,
      cookie: cookieOf(request, 'provider'),
      current: current?.userId ?? null,
    });
    setCookie(this.ctx, this.response, 'provider', '', 0);
    if ('signedIn' in outcome) setSignInCookies(this.ctx, this.response, { ...outcome.signedIn, browser: visit.browser });
    this.response.setHeader('Cache-Control', 'no-store');
    this.response.redirect(302, outcome.destination);
  }

  /** Begins signing in at a provider: send the person to `url`. */
  @Post('sign-in/social')
  @Middlewares(publicWrite)
  public async signInSocial(@Request() request: HttpRequest, @Body() body: SocialSignIn): Promise<ProviderRedirect> {
    return this.begin(request, { ...body, providerId: body.provider }, null);
  }

  /** The same, by the name that the generic client uses. */
  @Post('sign-in/oauth2')
  @Middlewares(publicWrite)
  public async signInOAuth(@Request() request: HttpRequest, @Body() body: OAuthSignIn): Promise<ProviderRedirect> {
    return this.begin(request, body, null);
  }

  /** Begins joining a provider's account to yours. */
  @Post('link-social')
  @Security('session')
  public async linkSocial(@Request() request: HttpRequest, @Body() body: SocialSignIn): Promise<ProviderRedirect> {
    return this.begin(request, { ...body, providerId: body.provider }, this.caller.userId);
  }

  /** The same, by the name that the generic client uses. */
  @Post('oauth2/link')
  @Security('session')
  public async linkOAuth(@Request() request: HttpRequest, @Body() body: OAuthSignIn): Promise<ProviderRedirect> {
    return this.begin(request, body, this.caller.userId);
  }

  /** Where a provider sends a person back to. */
  @Get('callback/{provider}')
  @SuccessResponse(302, 'To where the flow was begun with')
  public async callback(@Request() request: HttpRequest, @Path() provider: string): Promise<void> {
    await this.end(request, provider);
  }

  /** Where a provider sends a person back to. */
  @Get('oauth2/callback/{provider}')
  @SuccessResponse(302, 'To where the flow was begun with')
  public async oauthCallback(@Request() request: HttpRequest, @Path() provider: string): Promise<void> {
    await this.end(request, provider);
  }

  /** A page that says why a sign-in at a provider failed. */
  @Get('error')
  @SuccessResponse(200, 'The page', 'text/html')
  public error(@Query() error?: string): string {
    failurePage(this.response, error ?? '');
    return '';
  }

  /** Accounts at providers that are joined to yours. */
  @Get('list-accounts')
  @Security('session')
  public async accounts(): Promise<LinkedAccount[]> {
    return listLinkedAccounts(this.ctx.db, this.caller.userId);
  }

  /** Takes a provider away from your account. Refused when it is the only way in. */
  @Post('unlink-account')
  @Security('session')
  public async unlink(@Body() body: UnlinkAccount): Promise<StatusDone> {
    await unlinkProvider(this.ctx, this.caller, body);
    return { status: true };
  }
}
