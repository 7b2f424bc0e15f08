import { Body, Delete, Get, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { ExperimentContributors, ExperimentJoinRequest, NewExperimentJoinRequest } from './membership.model.ts';
import { listJoinRequests } from './membership.queries.ts';
import { loadContributors, decideRequest, loadOwnRequest, requestToContribute, withdrawRequest } from './membership.service.ts';

@Route('api/v1/experiments/{id}')
@Tags('Experiments')
export class ExperimentMembershipController extends ApiController {
  /**
   * For everybody who may read the experiment. Answers its creator and everybody with a direct grant, by name. Where contributors are anonymised,
   * pseudonyms stand for them, in the order of the pseudonyms.
   * @summary List who takes part in an experiment
   */
  @Get('contributors')
  @Security('caller', ['experiment:read'])
  public async listContributors(@Path() id: string): Promise<ExperimentContributors> {
    return loadContributors(this.ctx, id);
  }

  /**
   * Only for owners and admins of the experiment. Answers the requests that are still to be decided, newest first.
   * @summary List pending requests to take part
   */
  @Get('join-requests')
  @Security('caller', ['experiment:manage'])
  public async listExperimentJoinRequests(@Path() id: string, @Queries() page: ListPage): Promise<ExperimentJoinRequest[]> {
    return sliceList(this.response, await listJoinRequests(this.ctx.db, id), page);
  }

  /**
   * For everybody who is signed in. Owners of its organization and people with an admin grant get a letter. Asking again while a request is pending
   * answers that one. A private experiment refuses with ACTION_DENIED (403); an archived one with EXPERIMENT_ARCHIVED, and who may contribute already
   * with ALREADY_CONTRIBUTOR (409).
   * @summary Ask to take part in a public experiment
   */
  @Post('join-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async requestToJoinExperiment(@Path() id: string, @Body() body: NewExperimentJoinRequest): Promise<ExperimentJoinRequest> {
    return requestToContribute(this.ctx, this.caller, id, body);
  }

  /**
   * For whoever asked to take part. Without a pending request it answers JOIN_REQUEST_NOT_FOUND (404).
   * @summary Read your own pending request
   */
  @Get('join-requests/me')
  @Security('caller')
  public async getMyExperimentJoinRequest(@Path() id: string): Promise<ExperimentJoinRequest> {
    return loadOwnRequest(this.ctx, this.caller, id);
  }

  /**
   * Only for owners and admins of the experiment. The person gets a viewer grant, with which they may read and contribute, and a letter. Refused with
   * JOIN_REQUEST_DECIDED when it was decided before, with REQUESTER_CAME_IN when the person may contribute by now (which closes the request), and
   * with EXPERIMENT_ARCHIVED (all 409).
   * @summary Approve a request to take part
   * @param requestId Request to take part, by its UUID.
   */
  @Post('join-requests/{requestId}/approve')
  @Security('caller', ['experiment:manage'])
  public async approveExperimentJoinRequest(@Path() id: string, @Path() requestId: string): Promise<ExperimentJoinRequest> {
    return decideRequest(this.ctx, this.caller, { experimentId: id, requestId, status: 'approved' });
  }

  /**
   * Only for owners and admins of the experiment. The person gets a letter and may ask again. Refused with JOIN_REQUEST_DECIDED when it was decided
   * before, with REQUESTER_CAME_IN when the person may contribute by now (which closes the request), and with EXPERIMENT_ARCHIVED (all 409).
   * @summary Reject a request to take part
   * @param requestId Request to take part, by its UUID.
   */
  @Post('join-requests/{requestId}/reject')
  @Security('caller', ['experiment:manage'])
  public async rejectExperimentJoinRequest(@Path() id: string, @Path() requestId: string): Promise<ExperimentJoinRequest> {
    return decideRequest(this.ctx, this.caller, { experimentId: id, requestId, status: 'rejected' });
  }

  /**
   * Only for whoever made the request; others get NOT_YOUR_REQUEST (403). It stays on record as cancelled. A request that was decided before refuses
   * with JOIN_REQUEST_DECIDED (409).
   * @summary Take your own request back
   * @param requestId Request to take part, by its UUID.
   */
  @Delete('join-requests/{requestId}')
  @Security('caller')
  public async withdrawExperimentJoinRequest(@Path() id: string, @Path() requestId: string): Promise<null> {
    await withdrawRequest(this.ctx, this.caller, id, requestId);
    return null;
  }
}
