import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookChanges, WebhookDeliveryReport } from './webhooks.model.ts';
import {
  changeWebhook,
  createWebhook,
  removeWebhook,
  requireWebhook,
  rotateSecret,
  testWebhook,
  loadWebhooks,
} from './webhooks.service.ts';

@Route('api/v1/organizations/{id}/webhooks')
@Tags('Webhooks')
@Security('caller')
export class WebhooksController extends ApiController {
  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Answers the endpoints that it has registered, newest first.
   * @summary List the webhooks of an organization
   */
  @Get()
  public async listWebhooks(@Path() id: string, @Queries() page: ListPage): Promise<Webhook[]> {
    return sliceList(this.response, await loadWebhooks(this.ctx, this.caller, id), page);
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). The endpoint is called when something of the organization changes. Its
   * signing secret is in this answer and in no other. An address that cannot be called refuses with INVALID_INPUT (400), more than 20 webhooks with
   * WEBHOOK_LIMIT_REACHED (409).
   * @summary Register a webhook
   */
  @Post()
  @SuccessResponse(201, 'Created')
  public async createWebhook(@Path() id: string, @Body() body: NewWebhook): Promise<CreatedWebhook> {
    this.response.setHeader('Cache-Control', 'no-store');
    return createWebhook(this.ctx, this.caller, id, body);
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Answers what it is told of, and how it fares. Its secret is not shown
   * again.
   * @summary Read one webhook
   */
  @Get('{webhookId}')
  public async getWebhook(@Path() id: string, @Path() webhookId: string): Promise<Webhook> {
    return this.answer(await requireWebhook(this.ctx, this.caller, { organizationId: id, webhookId }));
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Fields that are left out keep their value. Disabling ends what waits;
   * enabling begins with no failures. With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Change a webhook
   */
  @Patch('{webhookId}')
  public async updateWebhook(@Path() id: string, @Path() webhookId: string, @Body() body: WebhookChanges): Promise<Webhook> {
    return this.answer(await changeWebhook(this.ctx, this.caller, this.readTarget({ organizationId: id, webhookId }), body));
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). The log of its deliveries goes with it. With `If-Match`, a newer version
   * refuses with PRECONDITION_FAILED (412).
   * @summary Remove a webhook
   */
  @Delete('{webhookId}')
  public async deleteWebhook(@Path() id: string, @Path() webhookId: string): Promise<null> {
    await removeWebhook(this.ctx, this.caller, this.readTarget({ organizationId: id, webhookId }));
    return null;
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). The new secret is shown in this answer only. For 24 hours calls carry
   * signatures by both.
   * @summary Replace the signing secret of a webhook
   */
  @Post('{webhookId}/rotate-secret')
  public async rotateWebhookSecret(@Path() id: string, @Path() webhookId: string): Promise<RotatedSecret> {
    this.response.setHeader('Cache-Control', 'no-store');
    return rotateSecret(this.ctx, this.caller, { organizationId: id, webhookId });
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Sends a message of kind `webhook.test`; the delivery says what becomes of
   * it. A disabled webhook refuses with WEBHOOK_DISABLED (409).
   * @summary Send a test to a webhook
   */
  @Post('{webhookId}/test')
  @SuccessResponse(201, 'Created')
  public async testWebhook(@Path() id: string, @Path() webhookId: string): Promise<WebhookDeliveryReport> {
    return testWebhook(this.ctx, this.caller, { organizationId: id, webhookId });
  }
}
