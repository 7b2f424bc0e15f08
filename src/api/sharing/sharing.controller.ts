import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliced } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { checkedType } from '../../http/authentication.ts';
import { listCollaborators, listGranteeOrganizations, listGranteeTeams, listGranteeUsers } from './collaborators.queries.ts';
import type {
  AdminHandoverResults,
  AdminHandovers,
  Collaborator,
  GranteeOrganization,
  GranteeTeam,
  GranteeUser,
  GrantPatch,
  ListPage,
  NewGrant,
  NewTransfer,
  ResourceTransfer,
} from './sharing.model.ts';
import { changeRole, leave, revoke, share } from './sharing.service.ts';
import { handOver, transfer } from './transfer.service.ts';

interface GranteeQuery {
  /**
   * Part of a name or of an address.
   * @maxLength 200
   */
  query?: string;
  /**
   * @isInt
   * @minimum 1
   * @maximum 50
   */
  limit?: number;
}

@Route('api/v1')
@Tags('Sharing')
export class SharingController extends ApiController {
  /** Organizations that you can name as grantees: your own, without personal workspaces. */
  @Get('grantee-organizations')
  @Security('caller')
  public async granteeOrganizations(@Queries() query: GranteeQuery): Promise<GranteeOrganization[]> {
    return listGranteeOrganizations(this.ctx.db, this.caller.userId, query.query?.trim() ?? '', query.limit ?? 20);
  }

  /** Hands resources that keep your account from being deleted to another admin each. Items succeed or fail on their own. */
  @Post('collaborators/transfer-admin')
  @Security('caller')
  public async transferAdmin(@Body() body: AdminHandovers): Promise<AdminHandoverResults> {
    return { results: await handOver(this.ctx, this.caller, body.transfers) };
  }

  /** Teams of the owning organization. */
  @Get('{resourceType}/{id}/grantee-teams')
  @Security('caller', ['resource:share'])
  public async granteeTeams(
    @Request() request: HttpRequest,
    @Path() resourceType: string,
    @Path() id: string,
    @Queries() page: ListPage,
  ): Promise<GranteeTeam[]> {
    checkedType(resourceType);
    return sliced(request, this.response, await listGranteeTeams(this.ctx.db, id), page);
  }

  /** People who can be named as grantees, best match first. */
  @Get('{resourceType}/{id}/grantee-users')
  @Security('caller', ['resource:share'])
  public async granteeUsers(@Path() resourceType: string, @Path() id: string, @Queries() query: GranteeQuery): Promise<GranteeUser[]> {
    checkedType(resourceType);
    const asked = { resourceId: id, viewerId: this.caller.userId, query: query.query?.trim() ?? '', limit: query.limit ?? 20 };
    return listGranteeUsers(this.ctx.db, asked);
  }

  /** Everyone who answers for or reaches a resource: owners, admins and members of its organization, then every grant, newest first. */
  @Get('{resourceType}/{id}/collaborators')
  @Security('caller', ['resource:share'])
  public async collaborators(
    @Request() request: HttpRequest,
    @Path() resourceType: string,
    @Path() id: string,
    @Queries() page: ListPage,
  ): Promise<Collaborator[]> {
    checkedType(resourceType);
    return sliced(request, this.response, await listCollaborators(this.ctx.db, id, this.caller.userId), page);
  }

  /** Shares a resource with a person, a team of its organization, or an organization of yours. Naming a grantee again changes the role. */
  @Post('{resourceType}/{id}/collaborators')
  @Security('caller', ['resource:share'])
  @SuccessResponse(201, 'Created')
  public async share(@Path() resourceType: string, @Path() id: string, @Body() body: NewGrant): Promise<Collaborator[]> {
    this.setStatus(201);
    return share(this.ctx, this.caller, { type: checkedType(resourceType), id }, body);
  }

  /** Gives up your own direct grant. 404 when you hold none. */
  @Delete('{resourceType}/{id}/collaborators/me')
  @Security('caller')
  public async leave(@Path() resourceType: string, @Path() id: string): Promise<null> {
    await leave(this.ctx, this.caller, { type: checkedType(resourceType), id });
    return null;
  }

  /** Gives a grant another role. */
  @Patch('{resourceType}/{id}/collaborators/{grantId}')
  @Security('caller', ['resource:share'])
  public async changeRole(
    @Path() resourceType: string,
    @Path() id: string,
    @Path() grantId: string,
    @Body() body: GrantPatch,
  ): Promise<Collaborator[]> {
    return changeRole(this.ctx, this.caller, { type: checkedType(resourceType), id }, { grantId, role: body.role });
  }

  /** Takes a grant away. */
  @Delete('{resourceType}/{id}/collaborators/{grantId}')
  @Security('caller', ['resource:share'])
  public async revoke(@Path() resourceType: string, @Path() id: string, @Path() grantId: string): Promise<null> {
    await revoke(this.ctx, this.caller, { type: checkedType(resourceType), id }, grantId);
    return null;
  }

  /** Moves an experiment, a macro, a protocol or a workbook to another organization of yours. Team grants stay behind. */
  @Post('{resourceType}/{id}/transfer')
  @Security('caller', ['resource:transfer'])
  public async transfer(@Path() resourceType: string, @Path() id: string, @Body() body: NewTransfer): Promise<ResourceTransfer> {
    const move = { sourceId: this.caller.organizationId ?? '', targetId: body.targetOrganizationId };
    return transfer(this.ctx, this.caller, { type: checkedType(resourceType), id }, move);
  }
}
