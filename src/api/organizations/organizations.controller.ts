import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { COUNT_LIMIT, listed, sliced, tagged, wholeOr } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { listJoinRequests } from './join-requests.queries.ts';
import type {
  AuditEvent,
  JoinDecision,
  NewJoinRequest,
  OrganizationBlockers,
  OrganizationDetail,
  OrganizationJoinRequest,
  OrganizationList,
  OrganizationMembers,
  OrganizationResources,
  OrganizationTeam,
  TeamGrant,
} from './organizations.model.ts';
import {
  countAuditEvents,
  countDirectory,
  findOrganization,
  listAuditEvents,
  listBlockers,
  listDirectory,
  listMembers,
  listTeamGrants,
  listTeams,
} from './organizations.queries.ts';
import {
  decideRequest,
  requestToJoin,
  requireAdmin,
  requireMember,
  requireOwner,
  resourcesOf,
  withdrawRequest,
} from './organizations.service.ts';

interface DirectoryQuery extends ListPage {
  /**
   * Part of a name or description.
   * @maxLength 200
   */
  search?: string;
}

@Route('api/v1/organizations')
@Tags('Organizations')
export class OrganizationsController extends ApiController {
  /** Public organizations and your own, by name. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: DirectoryQuery): Promise<OrganizationList> {
    const page = wholeOr(query);
    const asked = { userId: this.caller.userId, search: query.search?.trim() ?? '' };
    const [rows, total] = await Promise.all([listDirectory(this.ctx.db, asked, page), countDirectory(this.ctx.db, asked)]);
    return { organizations: listed(request, this.response, { rows, total }, page) };
  }

  /** One organization: a public one, or one of yours. */
  @Get('{id}')
  @Security('caller')
  public async get(@Path() id: string): Promise<OrganizationDetail> {
    const found = await findOrganization(this.ctx.db, id, this.caller.userId);
    if (!found) throw errors.organizationNotFound();
    const { version, ...organization } = found;
    return tagged(this.response, organization, version);
  }

  /** What you can read of an organization, last changed first, and how many there are of each type. */
  @Get('{id}/resources')
  @Security('caller')
  public async resources(@Request() request: HttpRequest, @Path() id: string, @Queries() query: ListPage): Promise<OrganizationResources> {
    const page = wholeOr(query);
    const { resources, totals } = await resourcesOf(this.ctx, this.caller, id, page);
    const total = Object.values<number>({ ...totals }).reduce((sum, count) => sum + count, 0);
    return { resources: listed(request, this.response, { rows: resources, total }, page), totals };
  }

  /** Its members, longest first. For members. */
  @Get('{id}/members')
  @Security('caller')
  public async members(@Request() request: HttpRequest, @Path() id: string, @Queries() page: ListPage): Promise<OrganizationMembers> {
    await requireMember(this.ctx.db, this.caller, id);
    return { members: sliced(request, this.response, await listMembers(this.ctx.db, id), page) };
  }

  /** What must be moved or deleted before the organization can be deleted. For owners; 404 for everybody else. */
  @Get('{id}/deletion-blockers')
  @Security('caller')
  public async deletionBlockers(@Path() id: string): Promise<OrganizationBlockers> {
    await requireOwner(this.ctx.db, this.caller, id);
    const blockers = await listBlockers(this.ctx.db, id);
    return { blockers, total: blockers.reduce((sum, { count }) => sum + count, 0) };
  }

  /** Its teams and who is in them. For members. */
  @Get('{id}/teams')
  @Security('caller')
  public async teams(@Request() request: HttpRequest, @Path() id: string, @Queries() page: ListPage): Promise<OrganizationTeam[]> {
    await requireMember(this.ctx.db, this.caller, id);
    return sliced(request, this.response, await listTeams(this.ctx.db, id), page);
  }

  /** What its teams have been given. For members. */
  @Get('{id}/team-grants')
  @Security('caller')
  public async teamGrants(@Request() request: HttpRequest, @Path() id: string, @Queries() page: ListPage): Promise<TeamGrant[]> {
    await requireMember(this.ctx.db, this.caller, id);
    return sliced(request, this.response, await listTeamGrants(this.ctx.db, id), page);
  }

  /** Requests to join, pending ones first. For owners and admins. */
  @Get('{id}/join-requests')
  @Security('caller')
  public async joinRequests(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() page: ListPage,
  ): Promise<OrganizationJoinRequest[]> {
    await requireAdmin(this.ctx.db, this.caller, id);
    return sliced(request, this.response, await listJoinRequests(this.ctx.db, id), page);
  }

  /** Asks to join a public organization. Asking again while a request is pending answers that one. */
  @Post('{id}/join-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async requestToJoin(@Path() id: string, @Body() body: NewJoinRequest): Promise<OrganizationJoinRequest> {
    this.setStatus(201);
    return requestToJoin(this.ctx, this.caller, id, body);
  }

  /** Takes your pending request back. */
  @Delete('{id}/join-requests/me')
  @Security('caller')
  public async withdraw(@Path() id: string): Promise<null> {
    await withdrawRequest(this.ctx, this.caller, id);
    return null;
  }

  /** Approves or rejects a request. For owners and admins. */
  @Patch('{id}/join-requests/{requestId}')
  @Security('caller')
  public async decide(@Path() id: string, @Path() requestId: string, @Body() body: JoinDecision): Promise<OrganizationJoinRequest> {
    return decideRequest(this.ctx, this.caller, id, { requestId, decision: body.decision });
  }

  /** Every change of access, identity and data that concerns the organization, newest first. For owners and admins. */
  @Get('{id}/audit')
  @Security('caller')
  public async audit(@Request() request: HttpRequest, @Path() id: string, @Queries() query: ListPage): Promise<AuditEvent[]> {
    await requireAdmin(this.ctx.db, this.caller, id);
    const page = wholeOr({ page: 1, ...query });
    const [rows, total] = await Promise.all([listAuditEvents(this.ctx.db, id, page), countAuditEvents(this.ctx.db, id, COUNT_LIMIT + 1)]);
    return listed(request, this.response, { rows, total }, page);
  }
}
