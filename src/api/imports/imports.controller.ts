import { Body, Get, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageOrWhole } from '../../http/answers/answers.ts';
import { getRawBody } from '../../http/requests/body.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { NewTransferRequest, ProjectImport, ProjectImportResult, TransferRequest } from './imports.model.ts';
import { countTransferRequests, listTransferRequests } from './imports.queries.ts';
import { importProject } from './imports.service.ts';
import { requestTransfer } from './requests.service.ts';

@Route('api/v1')
@Tags('Experiments')
export class ImportsController extends ApiController {
  /**
   * For everybody who is signed in. Answers your requests to bring a project over, newest first. Without `page` and `pageSize` at most 1,000 are
   * answered.
   * @summary List projects you asked for
   */
  @Get('transfer-requests')
  @Security('caller')
  public async listTransferRequests(@Queries() query: ListPage): Promise<TransferRequest[]> {
    const page = readPageOrWhole(query);
    return this.answerPage(
      page,
      listTransferRequests(this.ctx.db, this.caller.userId, page),
      countTransferRequests(this.ctx.db, this.caller.userId),
    );
  }

  /**
   * For everybody who is signed in. Asks to bring a project over, and confirms it by letter. A project that was rejected or failed may be asked for
   * again; any other refuses with TRANSFER_ALREADY_REQUESTED, and one beyond 100 that have not come with TOO_MANY_TRANSFER_REQUESTS (409). Without
   * an address you get NO_ADDRESS (400).
   * @summary Ask for a project of another platform
   */
  @Post('transfer-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createTransferRequest(@Body() body: NewTransferRequest): Promise<TransferRequest> {
    return requestTransfer(this.ctx, this.caller, body);
  }

  /**
   * For the other platform: signed under Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), else WEBHOOK_SIGNATURE_INVALID
   * (401). Brings the whole project over, or nothing. An id is carried out once; after that WEBHOOK_REPLAYED (409) tells what it made.
   * @summary Receive a project of another platform
   */
  @Post('webhooks/project-transfer')
  @Security('webhookSignature')
  @SuccessResponse(201, 'Created')
  public async importProject(@Body() _body: ProjectImport): Promise<ProjectImportResult> {
    const delivery = {
      id: this.request.get('webhook-id') ?? '',
      text: getRawBody(this.request).toString('utf8'),
      requestId: this.exchange.requestId,
    };
    return importProject(this.ctx, delivery);
  }
}
