import { Body, Delete, Get, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage, Uuid } from '../sharing/sharing.model.ts';
import type { Invitation, InvitedTo, NewInvitation } from './invitations.model.ts';
import { loadInvitationsTo, invite, revokeInvitation } from './invitations.service.ts';

interface InvitationQuery extends ListPage {
  /** `platform`: your own invitations to the service. Else the kind of resource. */
  resourceType: InvitedTo;
  /** Resource, by its UUID. Required but for `platform`. */
  resourceId?: Uuid;
}

@Route('api/v1/invitations')
@Tags('Sharing')
export class InvitationsController extends ApiController {
  /**
   * For everybody who may share the resource; with `resourceType=platform`, your own invitations to the service. Answers those that are neither
   * accepted, revoked nor expired.
   * @summary List pending invitations
   */
  @Get()
  @Security('caller')
  public async listInvitations(@Queries() query: InvitationQuery): Promise<Invitation[]> {
    return sliceList(this.response, await loadInvitationsTo(this.ctx, this.caller, query.resourceType, query.resourceId), query);
  }

  /**
   * For everybody who may share the resource; to the service itself (`platform`), for everybody who is signed in. The grant is made when that address
   * signs in, within 30 days; at once (`status` is `accepted`) where it is the proven address of an account. A live invitation is answered as it is and not sent again. Ten
   * letters a day at most go from one person to one address; further ones are left out. Refused with ALREADY_GRANTED, ACCOUNT_EXISTS,
   * TOO_MANY_INVITATIONS (100 pending ones), EXPERIMENT_ARCHIVED (409), INVALID_EMAIL (400), and INVITATION_BUDGET_SPENT (429) after 20 invitations
   * to the service in a day.
   * @summary Invite somebody by email
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createInvitation(@Body() body: NewInvitation): Promise<Invitation> {
    return invite(this.ctx, this.caller, body);
  }

  /**
   * For everybody who may share the resource; of an invitation to the service, for who sent it. One that was accepted or revoked already refuses with
   * INVITATION_ENDED, one to an archived experiment with EXPERIMENT_ARCHIVED (409).
   * @summary Take a pending invitation back
   * @param invitationId Invitation, by its UUID.
   */
  @Delete('{invitationId}')
  @Security('caller')
  public async revokeInvitation(@Path() invitationId: string): Promise<null> {
    await revokeInvitation(this.ctx, this.caller, invitationId);
    return null;
  }
}
