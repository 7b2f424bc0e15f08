import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Middlewares, Post, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import { sendPage } from '../../http/pages.ts';
import { publicWrite } from '../../http/public.ts';
import type { NewsletterAccepted, NewsletterAddress, NewsletterState, WhatsNewSeen } from './newsletter.model.ts';
import { findSeen, markSeen } from './newsletter.queries.ts';
import {
  confirmAddress,
  subscribeAddress,
  subscribeCaller,
  subscriptionOf,
  unsubscribeAddress,
  unsubscribeCaller,
} from './newsletter.service.ts';
import { statePage } from './pages.ts';

@Route('api/v1/newsletter')
@Tags('Newsletter')
export class NewsletterController extends ApiController {
  /** Asks an address by letter whether it wants the newsletter. Public; five a minute from one place. */
  @Post('subscribe')
  @Middlewares(publicWrite)
  @SuccessResponse(200)
  public async subscribe(@Request() request: HttpRequest, @Body() body: NewsletterAddress): Promise<NewsletterAccepted> {
    await subscribeAddress(this.ctx, request.ip ?? '', body.email);
    return { success: true };
  }

  /**
   * Confirms an address, with the token of the letter. A program that only looks at the letter's link changes nothing: it leads to a page with a button.
   * @maxLength token 2000
   */
  @Post('confirm')
  @SuccessResponse(200)
  public async confirm(@Request() request: HttpRequest, @Query() token: string): Promise<NewsletterState> {
    this.response.setHeader('Cache-Control', 'no-store');
    return this.#shown(request, await confirmAddress(this.ctx, token));
  }

  /**
   * Ends a subscription, with the token of a letter; mail programs call this for their own button (RFC 8058).
   * @maxLength token 2000
   */
  @Post('unsubscribe')
  @SuccessResponse(200)
  public async unsubscribe(@Request() request: HttpRequest, @Query() token: string): Promise<NewsletterState> {
    this.response.setHeader('Cache-Control', 'no-store');
    return this.#shown(request, await unsubscribeAddress(this.ctx, token));
  }

  /** Whether your own address is subscribed. */
  @Get('status')
  @Security('caller')
  public async status(): Promise<NewsletterState> {
    return subscriptionOf(this.ctx, this.caller);
  }

  /** Subscribes your own address: at once when it is proven, else a letter asks. */
  @Post('subscription')
  @Security('caller')
  @SuccessResponse(200)
  public async subscribeMe(): Promise<NewsletterState> {
    return subscribeCaller(this.ctx, this.caller);
  }

  /** Ends your subscription. */
  @Delete('subscription')
  @Security('caller')
  public async unsubscribeMe(): Promise<NewsletterState> {
    return unsubscribeCaller(this.ctx, this.caller);
  }

  /** Answers a browser's form with a page, and everybody else with the state itself. */
  #shown(request: HttpRequest, state: NewsletterState): NewsletterState {
    if (request.accepts(['json', 'html']) === 'html') sendPage(this.response, statePage(state));
    return state;
  }
}

@Route('api/v1/whats-new')
@Tags('Newsletter')
export class WhatsNewController extends ApiController {
  /** When you last looked at what is new. */
  @Get('seen')
  @Security('caller')
  public async seen(): Promise<WhatsNewSeen> {
    const found = await findSeen(this.ctx.db, this.caller.userId);
    if (!found) throw errors.userNotFound();
    return found;
  }

  /** Notes that you have looked now. */
  @Post('seen')
  @Security('caller')
  @SuccessResponse(200)
  public async markSeen(): Promise<WhatsNewSeen> {
    const found = await markSeen(this.ctx.db, this.caller.userId);
    if (!found) throw errors.userNotFound();
    return found;
  }
}
