import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { expectedVersions, sliced, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookChanges, WebhookDeliveryReport } from './webhooks.model.ts';
import {
  changeWebhook,
  createWebhook,
  removeWebhook,
  requireWebhook,
  rotateSecret,
  shownWebhook,
  testWebhook,
  webhooksOf,
} from './webhooks.service.ts';

@Route('api/v1/organizations/{id}/webhooks')
@Tags('Webhooks')
@Security('caller')
export class WebhooksController extends ApiController {
  /** The endpoints that an organization has registered, newest first. For owners and admins. */
  @Get()
  public async list(@Request() request: HttpRequest, @Path() id: string, @Queries() page: ListPage): Promise<Webhook[]> {
    return sliced(request, this.response, await webhooksOf(this.ctx, this.caller, id), page);
  }

  /** Registers an endpoint that is called when something of the organization changes. Its signing secret is in this answer and in no other. */
  @Post()
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: NewWebhook): Promise<CreatedWebhook> {
    this.setStatus(201);
    this.response.setHeader('Cache-Control', 'no-store');
    return createWebhook(this.ctx, this.caller, id, body);
  }

  /** One endpoint. */
  @Get('{webhookId}')
  public async get(@Path() id: string, @Path() webhookId: string): Promise<Webhook> {
    const found = await requireWebhook(this.ctx, this.caller, { organizationId: id, webhookId });
    return tagged(this.response, shownWebhook(found), found.version);
  }

  /** Changes what is given. Disabling ends what waits; enabling begins with no failures. */
  @Patch('{webhookId}')
  public async update(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() webhookId: string,
    @Body() body: WebhookChanges,
  ): Promise<Webhook> {
    const path = { organizationId: id, webhookId };
    const changed = await changeWebhook(this.ctx, this.caller, path, body, expectedVersions(request));
    return tagged(this.response, shownWebhook(changed), changed.version);
  }

  /** Removes an endpoint and the log of its deliveries. */
  @Delete('{webhookId}')
  public async remove(@Request() request: HttpRequest, @Path() id: string, @Path() webhookId: string): Promise<null> {
    await removeWebhook(this.ctx, this.caller, { organizationId: id, webhookId }, expectedVersions(request));
    return null;
  }

  /** Makes a new signing secret, shown in this answer only. For 24 hours calls carry signatures by both. */
  @Post('{webhookId}/rotate-secret')
  public async rotate(@Path() id: string, @Path() webhookId: string): Promise<RotatedSecret> {
    this.response.setHeader('Cache-Control', 'no-store');
    return rotateSecret(this.ctx, this.caller, { organizationId: id, webhookId });
  }

  /** Sends a message of kind `webhook.test`; the delivery says what becomes of it. */
  @Post('{webhookId}/test')
  @SuccessResponse(201, 'Created')
  public async test(@Path() id: string, @Path() webhookId: string): Promise<WebhookDeliveryReport> {
    this.setStatus(201);
    return testWebhook(this.ctx, this.caller, { organizationId: id, webhookId });
  }
}
