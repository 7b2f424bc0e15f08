import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliced } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage, Uuid } from '../sharing/sharing.model.ts';
import type { Invitation, InvitedTo, NewInvitation } from './invitations.model.ts';
import { invitationsTo, invite, revokeInvitation } from './invitations.service.ts';

interface InvitationQuery extends ListPage {
  /** `platform`: your own invitations to the service. */
  resourceType: InvitedTo;
  /** Required but for `platform`. */
  resourceId?: Uuid;
}

@Route('api/v1/invitations')
@Tags('Invitations')
export class InvitationsController extends ApiController {
  /** Pending invitations to a resource that you may share. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: InvitationQuery): Promise<Invitation[]> {
    return sliced(request, this.response, await invitationsTo(this.ctx, this.caller, query.resourceType, query.resourceId), query);
  }

  /** Invites an address. The grant is made when that address signs in, within 30 days. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewInvitation): Promise<Invitation> {
    this.setStatus(201);
    return invite(this.ctx, this.caller, body);
  }

  /** Takes a pending invitation back. */
  @Delete('{invitationId}')
  @Security('caller')
  public async remove(@Path() invitationId: string): Promise<null> {
    await revokeInvitation(this.ctx, this.caller, invitationId);
    return null;
  }
}
