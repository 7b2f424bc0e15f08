import { Body, Delete, Get, Middlewares, Post, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import { protectPublicWrite } from '../../http/callers/public.ts';
import type { NewsletterAccepted, NewsletterAddress, NewsletterState, WhatsNewSeen } from './newsletter.model.ts';
import { findWhatsNewSeen, markWhatsNewSeen } from './newsletter.queries.ts';
import {
  confirmAddress,
  subscribeAddress,
  subscribeCaller,
  loadSubscription,
  unsubscribeAddress,
  unsubscribeCaller,
} from './newsletter.service.ts';

@Route('api/v1/newsletter')
@Tags('Newsletter')
export class NewsletterController extends ApiController {
  /**
   * For everybody, five times a minute from one place, else RATE_LIMITED (429). A letter asks the address whether it wants the newsletter; nothing is
   * sent before it is confirmed. The answer does not tell whether the address was known.
   * @summary Subscribe an address to the newsletter
   */
  @Post('subscribe')
  @Middlewares(protectPublicWrite)
  @SuccessResponse(200)
  public async subscribeToNewsletter(@Body() body: NewsletterAddress): Promise<NewsletterAccepted> {
    await subscribeAddress(this.ctx, this.request.ip ?? '', body.email);
    return { success: true };
  }

  /**
   * For whoever has the token of the letter. A program that only looks at the letter's link changes nothing: it leads to a page with a button. A
   * token that is too old or not ours refuses with NEWSLETTER_LINK_INVALID (400).
   * @summary Confirm a newsletter subscription
   * @param token What the letter's link holds, at most 2,000 characters.
   * @maxLength token 2000
   */
  @Post('confirm')
  @SuccessResponse(200)
  public async confirmNewsletter(@Query() token: string): Promise<NewsletterState> {
    this.response.setHeader('Cache-Control', 'no-store');
    return confirmAddress(this.ctx, token);
  }

  /**
   * For whoever has the token of a letter; mail programs call this for their own button (RFC 8058). A token that is too old or not ours refuses with
   * NEWSLETTER_LINK_INVALID (400).
   * @summary End a newsletter subscription
   * @param token What the letter's link holds, at most 2,000 characters.
   * @maxLength token 2000
   */
  @Post('unsubscribe')
  @SuccessResponse(200)
  public async unsubscribeFromNewsletter(@Query() token: string): Promise<NewsletterState> {
    this.response.setHeader('Cache-Control', 'no-store');
    return unsubscribeAddress(this.ctx, token);
  }

  /**
   * For everybody who is signed in and has an address, else NO_ADDRESS (400).
   * @summary Read your newsletter subscription
   */
  @Get('status')
  @Security('caller')
  public async getNewsletterStatus(): Promise<NewsletterState> {
    return loadSubscription(this.ctx, this.caller);
  }

  /**
   * For everybody who is signed in and has an address, else NO_ADDRESS (400). A proven address is subscribed at once; any other is asked by letter
   * first.
   * @summary Subscribe yourself to the newsletter
   */
  @Post('subscription')
  @Security('caller')
  @SuccessResponse(200)
  public async subscribeMeToNewsletter(): Promise<NewsletterState> {
    return subscribeCaller(this.ctx, this.caller);
  }

  /**
   * For everybody who is signed in and has an address, else NO_ADDRESS (400). Never having had one is no error.
   * @summary End your newsletter subscription
   */
  @Delete('subscription')
  @Security('caller')
  public async unsubscribeMeFromNewsletter(): Promise<NewsletterState> {
    return unsubscribeCaller(this.ctx, this.caller);
  }
}

@Route('api/v1/whats-new')
@Tags('Newsletter')
export class WhatsNewController extends ApiController {
  /**
   * For everybody who is signed in. Answers when you last said that you have looked at what is new.
   * @summary Read when you last saw news
   */
  @Get('seen')
  @Security('caller')
  public async getSeenNews(): Promise<WhatsNewSeen> {
    return (await findWhatsNewSeen(this.ctx.db, this.caller.userId)) ?? refuse(errors.userNotFound());
  }

  /**
   * For everybody who is signed in. Notes the time of this call, and answers it.
   * @summary Note that you have seen the news
   */
  @Post('seen')
  @Security('caller')
  @SuccessResponse(200)
  public async markNewsSeen(): Promise<WhatsNewSeen> {
    return (await markWhatsNewSeen(this.ctx.db, this.caller.userId)) ?? refuse(errors.userNotFound());
  }
}
