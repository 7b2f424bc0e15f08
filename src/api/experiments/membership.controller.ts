import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliced } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { ExperimentContributors, ExperimentJoinRequest, NewExperimentJoinRequest } from './membership.model.ts';
import { listJoinRequests } from './membership.queries.ts';
import { contributorsOf, decideRequest, ownRequest, requestToContribute, withdrawRequest } from './membership.service.ts';

@Route('api/v1/experiments/{id}')
@Tags('Experiments')
export class ExperimentMembershipController extends ApiController {
  /** Its creator and everybody with a direct grant, under pseudonyms where contributors are anonymised. */
  @Get('contributors')
  @Security('caller', ['experiment:read'])
  public async contributors(@Path() id: string): Promise<ExperimentContributors> {
    return contributorsOf(this.ctx, id);
  }

  /** Pending requests to take part, newest first. */
  @Get('join-requests')
  @Security('caller', ['experiment:manage'])
  public async list(@Request() request: HttpRequest, @Path() id: string, @Queries() page: ListPage): Promise<ExperimentJoinRequest[]> {
    return sliced(request, this.response, await listJoinRequests(this.ctx.db, id), page);
  }

  /** Asks to take part in a public experiment. Asking again while a request is pending answers that one. */
  @Post('join-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async ask(@Path() id: string, @Body() body: NewExperimentJoinRequest): Promise<ExperimentJoinRequest> {
    this.setStatus(201);
    return requestToContribute(this.ctx, this.caller, id, body);
  }

  /** Your own pending request. */
  @Get('join-requests/me')
  @Security('caller')
  public async own(@Path() id: string): Promise<ExperimentJoinRequest> {
    return ownRequest(this.ctx, this.caller, id);
  }

  /** Approves a request: the person may then read and contribute. */
  @Post('join-requests/{requestId}/approve')
  @Security('caller', ['experiment:manage'])
  public async approve(@Path() id: string, @Path() requestId: string): Promise<ExperimentJoinRequest> {
    return decideRequest(this.ctx, this.caller, { experimentId: id, requestId, status: 'approved' });
  }

  /** Rejects a request. */
  @Post('join-requests/{requestId}/reject')
  @Security('caller', ['experiment:manage'])
  public async reject(@Path() id: string, @Path() requestId: string): Promise<ExperimentJoinRequest> {
    return decideRequest(this.ctx, this.caller, { experimentId: id, requestId, status: 'rejected' });
  }

  /** Takes your own pending request back; it stays on record as cancelled. */
  @Delete('join-requests/{requestId}')
  @Security('caller')
  public async withdraw(@Path() id: string, @Path() requestId: string): Promise<null> {
    await withdrawRequest(this.ctx, this.caller, id, requestId);
    return null;
  }
}
