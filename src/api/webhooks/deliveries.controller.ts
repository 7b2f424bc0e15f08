import { Get, Path, Post, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { PageQuery } from '../resources/resources.model.ts';
import { countDeliveries, listDeliveries } from './deliveries.queries.ts';
import type { WebhookDelivery, WebhookDeliveryReport, WebhookDeliveryStatus } from './webhooks.model.ts';
import { loadDelivery, redeliver, requireWebhook } from './webhooks.service.ts';

interface DeliveryQuery extends PageQuery {
  /** Only deliveries in this state. */
  status?: WebhookDeliveryStatus;
}

@Route('api/v1/organizations/{id}/webhooks/{webhookId}/deliveries')
@Tags('Webhooks')
@Security('caller')
export class WebhookDeliveriesController extends ApiController {
  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Newest first: the last 30 days unless the operator sets another time, and
   * at most the last 1,000.
   * @summary List what a webhook was sent
   */
  @Get()
  public async listWebhookDeliveries(
    @Path() id: string,
    @Path() webhookId: string,
    @Queries() query: DeliveryQuery,
  ): Promise<WebhookDelivery[]> {
    await requireWebhook(this.ctx, this.caller, { organizationId: id, webhookId });
    const page = readPageQuery(query);
    return this.answerPage(
      page,
      listDeliveries(this.ctx.db, webhookId, query.status, page),
      countDeliveries(this.ctx.db, webhookId, query.status, this.countLimit),
    );
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Answers its body and its attempts. One that is kept no longer is
   * WEBHOOK_DELIVERY_NOT_FOUND (404).
   * @summary Read one delivery of a webhook
   */
  @Get('{deliveryId}')
  public async getWebhookDelivery(
    @Path() id: string,
    @Path() webhookId: string,
    @Path() deliveryId: string,
  ): Promise<WebhookDeliveryReport> {
    return loadDelivery(this.ctx, this.caller, { organizationId: id, webhookId }, deliveryId);
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Sends a delivery that has ended, under the same `webhook-id`. Refused
   * with WEBHOOK_DELIVERY_PENDING while it is still being tried, and WEBHOOK_DISABLED (409).
   * @summary Send a delivery once more
   */
  @Post('{deliveryId}/redeliver')
  public async repeatWebhookDelivery(
    @Path() id: string,
    @Path() webhookId: string,
    @Path() deliveryId: string,
  ): Promise<WebhookDeliveryReport> {
    return redeliver(this.ctx, this.caller, { organizationId: id, webhookId }, deliveryId);
  }
}
