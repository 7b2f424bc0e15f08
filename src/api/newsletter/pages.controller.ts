import { Get, Hidden, Query, Route } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { sendPage } from '../../http/pages.ts';
import { buttonBody } from './pages.ts';

/** Where the links of newsletter letters lead. */
@Route('platform/newsletter')
@Hidden()
export class NewsletterPagesController extends ApiController {
  /** @maxLength token 2000 */
  @Get('confirm')
  public async confirm(@Query() token: string): Promise<void> {
    sendPage(this.response, { title: 'Newsletter', body: buttonBody('confirm', token) });
    return Promise.resolve();
  }

  /** @maxLength token 2000 */
  @Get('unsubscribe')
  public async unsubscribe(@Query() token: string): Promise<void> {
    sendPage(this.response, { title: 'Newsletter', body: buttonBody('unsubscribe', token) });
    return Promise.resolve();
  }
}
