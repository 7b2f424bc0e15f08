import type { NextFunction, Request, Response } from 'express';
import { Body, Delete, Get, Middlewares, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import type { AuditAction } from '../../auth/audit.ts';
import { errors, refuse } from '../../errors.ts';
import { setListHeaders, sliceList, readPageOrWhole } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { getContext, getExchange } from '../../http/exchange.ts';
import type { PageQuery } from '../resources/resources.model.ts';
import type { ListPage, Uuid } from '../sharing/sharing.model.ts';
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
  loadResources,
  withdrawRequest,
} from './organizations.service.ts';

interface DirectoryQuery extends ListPage {
  /**
   * Part of a name or description, at most 200 characters.
   * @maxLength 200
   */
  search?: string;
}

interface OrganizationAuditQuery extends PageQuery {
  /** Only what this person did, by their UUID. */
  actorId?: Uuid;
  /** Only what was done in this way. */
  action?: AuditAction;
  /** Only what was done to this resource, by its UUID. */
  resourceId?: Uuid;
  /** Beginning of the range, which belongs to it. */
  from?: Date;
  /** End of the range, which does not belong to it. */
  to?: Date;
}

/** Decides whether the caller may decide requests to join, before the decision itself is looked at. */
async function requireDecider(request: Request, response: Response, next: NextFunction): Promise<void> {
  const { caller } = getExchange(response);
  if (!caller) throw errors.unauthorized();
  await requireAdmin(getContext(request).db, caller, String(request.params['id']));
  next();
}

@Route('api/v1/organizations')
@Tags('Organizations')
export class OrganizationsController extends ApiController {
  /**
   * For everybody who is signed in. Answers public organizations and your own, by name. X-Total-Count says how many there are, and Link leads to the
   * other pages.
   * @summary List organizations
   */
  @Get()
  @Security('caller')
  public async listOrganizations(@Queries() query: DirectoryQuery): Promise<OrganizationList> {
    const page = readPageOrWhole(query);
    const asked = { userId: this.caller.userId, search: query.search?.trim() ?? '' };
    return { organizations: await this.answerPage(page, listDirectory(this.ctx.db, asked, page), countDirectory(this.ctx.db, asked)) };
  }

  /**
   * For everybody who is signed in, of a public organization; of a private one for its members. Others get ORGANIZATION_NOT_FOUND (404), as for one
   * that does not exist.
   * @summary Read one organization
   */
  @Get('{id}')
  @Security('caller')
  public async getOrganization(@Path() id: string): Promise<OrganizationDetail> {
    return this.answer((await findOrganization(this.ctx.db, id, this.caller.userId)) ?? refuse(errors.organizationNotFound()));
  }

  /**
   * For everybody who may see the organization. Answers its experiments, protocols, macros, workbooks, devices and device groups that you may read,
   * last changed first, and how many there are of each type.
   * @summary List what you can read of an organization
   */
  @Get('{id}/resources')
  @Security('caller')
  public async listOrganizationResources(@Path() id: string, @Queries() query: ListPage): Promise<OrganizationResources> {
    const page = readPageOrWhole(query);
    const { resources, totals } = await loadResources(this.ctx, this.caller, id, page);
    const total = Object.values<number>({ ...totals }).reduce((sum, count) => sum + count, 0);
    return { resources: setListHeaders(this.response, { rows: resources, total }, page), totals };
  }

  /**
   * Only for its members, else MEMBERS_ONLY (403). Who has been in it longest comes first.
   * @summary List the members of an organization
   */
  @Get('{id}/members')
  @Security('caller')
  public async listOrganizationMembers(@Path() id: string, @Queries() page: ListPage): Promise<OrganizationMembers> {
    await requireMember(this.ctx.db, this.caller, id);
    return { members: sliceList(this.response, await listMembers(this.ctx.db, id), page) };
  }

  /**
   * Only for its owners; everybody else gets ORGANIZATION_NOT_FOUND (404). Answers how many resources of each type must be moved or deleted first.
   * @summary List what keeps an organization from deletion
   */
  @Get('{id}/deletion-blockers')
  @Security('caller')
  public async getOrganizationDeletionBlockers(@Path() id: string): Promise<OrganizationBlockers> {
    await requireOwner(this.ctx.db, this.caller, id);
    const blockers = await listBlockers(this.ctx.db, id);
    return { blockers, total: blockers.reduce((sum, { count }) => sum + count, 0) };
  }

  /**
   * Only for its members, else MEMBERS_ONLY (403). Answers the teams and who is in them.
   * @summary List the teams of an organization
   */
  @Get('{id}/teams')
  @Security('caller')
  public async listOrganizationTeams(@Path() id: string, @Queries() page: ListPage): Promise<OrganizationTeam[]> {
    await requireMember(this.ctx.db, this.caller, id);
    return sliceList(this.response, await listTeams(this.ctx.db, id), page);
  }

  /**
   * Only for members of the organization, else MEMBERS_ONLY (403). Answers every grant that names one of its teams.
   * @summary List what teams have been given
   */
  @Get('{id}/team-grants')
  @Security('caller')
  public async listTeamGrants(@Path() id: string, @Queries() page: ListPage): Promise<TeamGrant[]> {
    await requireMember(this.ctx.db, this.caller, id);
    return sliceList(this.response, await listTeamGrants(this.ctx.db, id), page);
  }

  /**
   * Only for its owners and admins, else ADMINS_ONLY (403). Pending ones come first.
   * @summary List requests to join an organization
   */
  @Get('{id}/join-requests')
  @Security('caller')
  public async listOrganizationJoinRequests(@Path() id: string, @Queries() page: ListPage): Promise<OrganizationJoinRequest[]> {
    await requireAdmin(this.ctx.db, this.caller, id);
    return sliceList(this.response, await listJoinRequests(this.ctx.db, id), page);
  }

  /**
   * For everybody who is signed in. Its owners and admins get a letter. Asking again while a request is pending answers that one. A member is refused
   * with ALREADY_MEMBER (409).
   * @summary Ask to join a public organization
   */
  @Post('{id}/join-requests')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async requestToJoinOrganization(@Path() id: string, @Body() body: NewJoinRequest): Promise<OrganizationJoinRequest> {
    return requestToJoin(this.ctx, this.caller, id, body);
  }

  /**
   * For whoever asked; it stays on record as cancelled. Without a pending request it answers JOIN_REQUEST_NOT_FOUND (404).
   * @summary Take your request to join back
   */
  @Delete('{id}/join-requests/me')
  @Security('caller')
  public async withdrawOrganizationJoinRequest(@Path() id: string): Promise<null> {
    await withdrawRequest(this.ctx, this.caller, id);
    return null;
  }

  /**
   * Only for owners and admins of the organization, else ADMINS_ONLY (403). Who is approved becomes a member; either way the person gets a letter.
   * Refused with JOIN_REQUEST_DECIDED when it was decided before, and ORGANIZATION_FULL at 100 members (409).
   * @summary Decide a request to join
   * @param requestId Request to join, by its UUID.
   */
  @Patch('{id}/join-requests/{requestId}')
  @Security('caller')
  @Middlewares(requireDecider)
  public async decideOrganizationJoinRequest(
    @Path() id: string,
    @Path() requestId: string,
    @Body() body: JoinDecision,
  ): Promise<OrganizationJoinRequest> {
    return decideRequest(this.ctx, this.caller, id, { requestId, decision: body.decision });
  }

  /**
   * Only for its owners and admins, else ADMINS_ONLY (403). Answers every change of access, identity and data that concerns the organization, newest
   * first; with filters those that fit all of them. A range that is empty refuses with RANGE_INVALID (400). X-Total-Count is exact up to 10,000.
   * @summary Read the audit log of an organization
   */
  @Get('{id}/audit')
  @Security('caller')
  public async listOrganizationAuditEvents(@Path() id: string, @Queries() query: OrganizationAuditQuery): Promise<AuditEvent[]> {
    await requireAdmin(this.ctx.db, this.caller, id);
    const { from, to } = query;
    if (from !== undefined && to !== undefined && from >= to) throw errors.rangeInvalid('The range is empty: from must be before to.');
    const page = readPageOrWhole({ page: 1, ...query });
    return this.answerPage(page, listAuditEvents(this.ctx.db, id, query, page), countAuditEvents(this.ctx.db, id, query, this.countLimit));
  }
}
