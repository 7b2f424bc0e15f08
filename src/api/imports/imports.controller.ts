import type { Request as HttpRequest } from 'express';
import { Body, Get, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { listed, pageOf } from '../../http/answers.ts';
import { rawBodyOf } from '../../http/body.ts';
import { ApiController } from '../../http/controllers.ts';
import type { PageQuery } from '../resources/resources.model.ts';
import type { NewTransferRequest, ProjectImport, ProjectImportResult, TransferRequest } from './imports.model.ts';
import { countTransferRequests, listTransferRequests } from './imports.queries.ts';
import { importProject } from './imports.service.ts';
import { requestTransfer } from './requests.service.ts';

@Route('api/v1')
@Tags('Project import')
export class ImportsController extends ApiController {
  /** Projects that you asked to bring over, newest first. */
  @Get('transfer-requests')
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: PageQuery): Promise<TransferRequest[]> {
    const page =
      query.page === undefined && query.pageSize === undefined ? { page: 1, pageSize: 1000, limit: 1000, offset: 0 } : pageOf(query);
    const [rows, total] = await Promise.all([
      listTransferRequests(this.ctx.db, this.caller.userId, page),
      countTransferRequests(this.ctx.db, this.caller.userId),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** Asks to bring a project over from the other platform. A project that was rejected or failed may be asked for again. */
  @Post('transfer-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewTransferRequest): Promise<TransferRequest> {
    this.setStatus(201);
    return requestTransfer(this.ctx, this.caller, body);
  }

  /**
   * Brings a project over, all of it or nothing. Signed under Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`); an id
   * is carried out once, and 409 tells what it made.
   */
  @Post('webhooks/project-transfer')
  @Security('webhook')
  @SuccessResponse(201, 'Created')
  public async receive(@Request() request: HttpRequest, @Body() _body: ProjectImport): Promise<ProjectImportResult> {
    this.setStatus(201);
    const delivery = { id: request.get('webhook-id') ?? '', text: rawBodyOf(request).toString('utf8'), requestId: this.exchange.requestId };
    return importProject(this.ctx, delivery);
  }
}
