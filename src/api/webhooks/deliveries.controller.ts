import type { Request as HttpRequest } from 'express';
import { Get, Path, Post, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { listed, mostCounted, pageOf } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { countDeliveries, listDeliveries } from './deliveries.queries.ts';
import type { WebhookDelivery, WebhookDeliveryReport, WebhookDeliveryStatus } from './webhooks.model.ts';
import { deliveryOf, redeliver, requireWebhook } from './webhooks.service.ts';

interface DeliveryQuery extends ListPage {
  status?: WebhookDeliveryStatus;
}

@Route('api/v1/organizations/{id}/webhooks/{webhookId}/deliveries')
@Tags('Webhooks')
@Security('caller')
export class WebhookDeliveriesController extends ApiController {
  /** What an endpoint was sent, newest first: the last 30 days, and at most the last 1,000. */
  @Get()
  public async list(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() webhookId: string,
    @Queries() query: DeliveryQuery,
  ): Promise<WebhookDelivery[]> {
    await requireWebhook(this.ctx, this.caller, { organizationId: id, webhookId });
    const page = pageOf(query);
    const [rows, total] = await Promise.all([
      listDeliveries(this.ctx.db, webhookId, query.status, page),
      countDeliveries(this.ctx.db, webhookId, query.status, mostCounted(request)),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** One delivery, with its body and its attempts. */
  @Get('{deliveryId}')
  public async get(@Path() id: string, @Path() webhookId: string, @Path() deliveryId: string): Promise<WebhookDeliveryReport> {
    return deliveryOf(this.ctx, this.caller, { organizationId: id, webhookId }, deliveryId);
  }

  /** Sends a delivery that has ended once more, under the same `webhook-id`. */
  @Post('{deliveryId}/redeliver')
  public async redeliver(@Path() id: string, @Path() webhookId: string, @Path() deliveryId: string): Promise<WebhookDeliveryReport> {
    return redeliver(this.ctx, this.caller, { organizationId: id, webhookId }, deliveryId);
  }
}
