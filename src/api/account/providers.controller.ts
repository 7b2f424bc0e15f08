import { Body, Get, Middlewares, Path, Post, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { CEREMONY_SECONDS } from '../../auth/proofs/ceremonies.ts';
import { readCookie, setCookie, setSignInCookies } from '../../http/callers/cookies.ts';
import { ApiController } from '../../http/controllers.ts';
import { protectPublicWrite } from '../../http/callers/public.ts';
import { admitBySession } from '../../http/callers/sessions.ts';
import { getVisit } from '../../http/callers/visits.ts';
import type { StatusDone } from './account.model.ts';
import type { LinkedAccount, OAuthSignIn, OfferedProviders, ProviderRedirect, SocialSignIn, UnlinkAccount } from './providers.model.ts';
import { listLinkedAccounts } from './providers.queries.ts';
import { beginProvider, endProvider, listOfferedProviders, PROVIDER_FAILURES, unlinkProvider } from './providers.service.ts';

@Route('api/v1/auth')
@Tags('Signing in')
export class ProvidersController extends ApiController {
  private async begin(asked: OAuthSignIn, linkTo: string | null): Promise<ProviderRedirect> {
    const { url, cookie } = await beginProvider(this.ctx, asked, { ip: this.request.ip ?? '', linkTo });
    setCookie(this.ctx, this.response, 'provider', cookie, CEREMONY_SECONDS);
    return { url, redirect: asked.disableRedirect !== true };
  }

  private async end(provider: string): Promise<void> {
    const current = await admitBySession(this.request, this.response);
    const visit = getVisit(this.request);
    const outcome = await endProvider(this.ctx, visit, {
      provider,
      query: new URL(this.request.originalUrl, 'http://localhost').search,
      cookie: readCookie(this.request, 'provider'),
      current: current?.userId ?? null,
    });
    setCookie(this.ctx, this.response, 'provider', '', 0);
    if ('signedIn' in outcome) setSignInCookies(this.ctx, this.response, { ...outcome.signedIn, browser: visit.browser });
    this.response.setHeader('Cache-Control', 'no-store');
    this.response.redirect(302, outcome.destination);
  }

  /**
   * For everybody. Names the providers that are set up here; the list may be empty.
   * @summary List providers to sign in by
   */
  @Get('providers')
  public listSignInProviders(): OfferedProviders {
    return { providers: listOfferedProviders(this.ctx) };
  }

  /**
   * For everybody. Send the person to `url`, who comes back signed in. Refused with PROVIDER_NOT_FOUND (404), with INVALID_CALLBACK_URL,
   * INVALID_ERROR_CALLBACK_URL or INVALID_NEW_USER_CALLBACK_URL (403) for addresses that are not trusted, and RATE_LIMITED (429).
   * @summary Begin to sign in at a provider
   */
  @Post('sign-in/social')
  @Middlewares(protectPublicWrite)
  public async signInBySocial(@Body() body: SocialSignIn): Promise<ProviderRedirect> {
    return this.begin({ ...body, providerId: body.provider }, null);
  }

  /**
   * For everybody. The same as `sign-in/social`, by the name that the generic client uses, and with the same refusals.
   * @summary Begin to sign in by OAuth
   */
  @Post('sign-in/oauth2')
  @Middlewares(protectPublicWrite)
  public async signInByOAuth(@Body() body: OAuthSignIn): Promise<ProviderRedirect> {
    return this.begin(body, null);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Joins a provider's account to yours: send the person to `url`, who comes back linked.
   * Refused with PROVIDER_NOT_FOUND (404), with INVALID_CALLBACK_URL, INVALID_ERROR_CALLBACK_URL or INVALID_NEW_USER_CALLBACK_URL (403) for addresses
   * that are not trusted, and RATE_LIMITED (429).
   * @summary Begin to link a provider
   */
  @Post('link-social')
  @Security('session')
  public async linkSocial(@Body() body: SocialSignIn): Promise<ProviderRedirect> {
    return this.begin({ ...body, providerId: body.provider }, this.caller.userId);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. The same as `link-social`, by the name that the generic client uses, and with the
   * same refusals.
   * @summary Begin to link a provider by OAuth
   */
  @Post('oauth2/link')
  @Security('session')
  public async linkOAuth(@Body() body: OAuthSignIn): Promise<ProviderRedirect> {
    return this.begin(body, this.caller.userId);
  }

  /**
   * For the browser of whoever began to sign in or link. The answer leads on to where the flow was begun with, with a session if it went well and
   * `?error=` if it did not. A provider that is not available here is PROVIDER_NOT_FOUND (404).
   * @summary Return from a sign-in provider
   * @param provider Name of the provider, such as `github`.
   */
  @Get('callback/{provider}')
  @SuccessResponse(302, 'To where the flow was begun with')
  public async completeSocialSignIn(@Path() provider: string): Promise<void> {
    await this.end(provider);
  }

  /**
   * For the browser of whoever began to sign in or link. The answer leads on to where the flow was begun with, with a session if it went well and
   * `?error=` if it did not. A provider that is not available here is PROVIDER_NOT_FOUND (404).
   * @summary Return from an OAuth provider
   * @param provider Name of the provider, such as `orcid`.
   */
  @Get('oauth2/callback/{provider}')
  @SuccessResponse(302, 'To where the flow was begun with')
  public async completeOAuthSignIn(@Path() provider: string): Promise<void> {
    await this.end(provider);
  }

  /**
   * For everybody. Leads to the page that says why. It repeats nothing of what it is given but a reason that it knows.
   * @summary Show why signing in failed
   * @param error Reason, as the provider's return named it.
   */
  @Get('error')
  @SuccessResponse(302, 'To the page')
  public showSignInError(@Query() error?: string): void {
    const known = PROVIDER_FAILURES.find((failure) => failure === error) ?? 'unknown';
    this.response.setHeader('Cache-Control', 'no-store');
    this.response.redirect(302, `/sign-in?error=${known}`);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Answers the accounts at sign-in providers that are joined to yours.
   * @summary List your accounts at providers
   */
  @Get('list-accounts')
  @Security('session')
  public async listLinkedAccounts(): Promise<LinkedAccount[]> {
    return listLinkedAccounts(this.ctx.db, this.caller.userId);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. The session must have been begun within a day, else SESSION_NOT_FRESH (403). Takes a
   * provider away from your account. One that is not linked refuses with ACCOUNT_NOT_FOUND, the only way to sign in with
   * FAILED_TO_UNLINK_LAST_ACCOUNT (400).
   * @summary Unlink a provider
   */
  @Post('unlink-account')
  @Security('session')
  public async unlinkAccount(@Body() body: UnlinkAccount): Promise<StatusDone> {
    await unlinkProvider(this.ctx, this.caller, body);
    return { status: true };
  }
}
