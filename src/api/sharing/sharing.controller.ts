import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { checkResourceType } from '../../http/callers/authentication.ts';
import { listCollaborators, listGranteeOrganizations, listGranteeTeams } from './collaborators.queries.ts';
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
import { changeRole, findGrantees, leave, revoke, share } from './sharing.service.ts';
import { handOver, transfer } from './transfer.service.ts';

interface GranteeQuery {
  /**
   * Part of a name, part of the address of somebody in your organizations, or a whole address, at most 200 characters. Without it: the people of
   * your organizations.
   * @maxLength 200
   */
  query?: string;
  /**
   * Rows at most, 1 to 50; 20 by default.
   * @isInt
   * @minimum 1
   * @maximum 50
   */
  limit?: number;
}

@Route('api/v1')
@Tags('Sharing')
export class SharingController extends ApiController {
  /**
   * For everybody who is signed in. Answers the organizations that you are in, without personal workspaces: those you may name as grantees.
   * @summary List organizations you can share with
   */
  @Get('grantee-organizations')
  @Security('caller')
  public async listGranteeOrganizations(@Queries() query: GranteeQuery): Promise<GranteeOrganization[]> {
    return listGranteeOrganizations(this.ctx.db, this.caller.userId, query.query?.trim() ?? '', query.limit ?? 20);
  }

  /**
   * For whoever wants to close their account. Each resource that keeps it from being deleted gets another admin. Items succeed or fail on their own,
   * and `results` says how each went. A resource that does not keep the account open is refused; share it instead.
   * @summary Hand blocking resources to another admin
   */
  @Post('collaborators/transfer-admin')
  @Security('caller')
  public async transferAdmin(@Body() body: AdminHandovers): Promise<AdminHandoverResults> {
    return { results: await handOver(this.ctx, this.caller, body.transfers) };
  }

  /**
   * For everybody who may share the resource: its owners and admins. Answers the teams of the organization that owns the resource.
   * @summary List teams you can share with
   */
  @Get('{resourceType}/{id}/grantee-teams')
  @Security('caller', ['resource:share'])
  public async listGranteeTeams(
    @Path('resourceType') _type: string,
    @Path() id: string,
    @Queries() page: ListPage,
  ): Promise<GranteeTeam[]> {
    return sliceList(this.response, await listGranteeTeams(this.ctx.db, id), page);
  }

  /**
   * For everybody who may share the resource: its owners and admins. Answers people who can be named as grantees, best match first.
   * @summary List people you can share with
   */
  @Get('{resourceType}/{id}/grantee-users')
  @Security('caller', ['resource:share'])
  public async listGranteeUsers(
    @Path('resourceType') _type: string,
    @Path() id: string,
    @Queries() query: GranteeQuery,
  ): Promise<GranteeUser[]> {
    return findGrantees(this.ctx, this.caller, id, query);
  }

  /**
   * For everybody who may share the resource: its owners and admins. Answers everyone who answers for it or reaches it: owners, admins and members of
   * its organization, then every grant, newest first.
   * @summary List who reaches a resource
   */
  @Get('{resourceType}/{id}/collaborators')
  @Security('caller', ['resource:share'])
  public async listCollaborators(
    @Path('resourceType') _type: string,
    @Path() id: string,
    @Queries() page: ListPage,
  ): Promise<Collaborator[]> {
    return sliceList(this.response, await listCollaborators(this.ctx.db, id, this.caller.userId), page);
  }

  /**
   * For everybody who may share the resource: its owners and admins. Gives a role to a person, a team of its organization, or an organization of
   * yours, and answers who reaches the resource now. Naming a grantee again changes the role. Refused with GRANTEE_NOT_FOUND (400) for whom you
   * cannot name, LAST_ADMIN when nobody would answer for it any more, and EXPERIMENT_ARCHIVED (409).
   * @summary Share a resource
   */
  @Post('{resourceType}/{id}/collaborators')
  @Security('caller', ['resource:share'])
  @SuccessResponse(201, 'Created')
  public async addCollaborator(@Path() resourceType: string, @Path() id: string, @Body() body: NewGrant): Promise<Collaborator[]> {
    return share(this.ctx, this.caller, { type: checkResourceType(resourceType), id }, body);
  }

  /**
   * For whoever holds a direct grant, on an archived experiment too. Without one it answers GRANT_NOT_FOUND (404). Refused with LAST_ADMIN (409) when
   * nobody would answer for the resource any more.
   * @summary Give up your own grant
   */
  @Delete('{resourceType}/{id}/collaborators/me')
  @Security('caller')
  public async leaveResource(@Path() resourceType: string, @Path() id: string): Promise<null> {
    await leave(this.ctx, this.caller, { type: checkResourceType(resourceType), id });
    return null;
  }

  /**
   * For everybody who may share the resource: its owners and admins. Answers who reaches the resource now. Refused with GRANT_NOT_FOUND (404), with
   * LAST_ADMIN when nobody would answer for it any more, and EXPERIMENT_ARCHIVED (409).
   * @summary Change the role of a grant
   */
  @Patch('{resourceType}/{id}/collaborators/{grantId}')
  @Security('caller', ['resource:share'])
  public async changeCollaboratorRole(
    @Path() resourceType: string,
    @Path() id: string,
    @Path() grantId: string,
    @Body() body: GrantPatch,
  ): Promise<Collaborator[]> {
    return changeRole(this.ctx, this.caller, { type: checkResourceType(resourceType), id }, { grantId, role: body.role });
  }

  /**
   * For everybody who may share the resource: its owners and admins. The grantee loses the access that the grant gave, and keeps what other ways
   * give. Refused with GRANT_NOT_FOUND (404), with LAST_ADMIN when nobody would answer for the resource any more, and EXPERIMENT_ARCHIVED (409).
   * @summary Take a grant away
   */
  @Delete('{resourceType}/{id}/collaborators/{grantId}')
  @Security('caller', ['resource:share'])
  public async removeCollaborator(@Path() resourceType: string, @Path() id: string, @Path() grantId: string): Promise<null> {
    await revoke(this.ctx, this.caller, { type: checkResourceType(resourceType), id }, grantId);
    return null;
  }

  /**
   * For an owner or admin of the organization that owns it (where it has none left, for who may manage the resource), else TRANSFER_DENIED (403);
   * they must be in the other one too, else NOT_A_MEMBER (403). Moves an experiment, a macro, a protocol or a workbook; team grants stay behind.
   * Refused with NOT_TRANSFERABLE or ALREADY_THERE (400), and RESOURCE_MOVED (409) when somebody else moved it meanwhile.
   * @summary Move a resource to another organization
   */
  @Post('{resourceType}/{id}/transfer')
  @Security('caller', ['resource:transfer'])
  public async transferResource(@Path() resourceType: string, @Path() id: string, @Body() body: NewTransfer): Promise<ResourceTransfer> {
    const move = { sourceId: this.caller.organizationId ?? '', targetId: body.targetOrganizationId };
    return transfer(this.ctx, this.caller, { type: checkResourceType(resourceType), id }, move);
  }
}
