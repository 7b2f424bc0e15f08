import { Body, Get, Post, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { InOrganization } from './teams.model.ts';
import type {
  CreatedOrganization,
  FullOrganization,
  ManagedMember,
  ManagedOrganization,
  MemberList,
  MemberRemoval,
  NewOrganization,
  NewOrganizationMember,
  OrganizationNamed,
  OrganizationUpdate,
  PermissionAnswer,
  PermissionAsked,
  RemovedMember,
  RoleChange,
  SlugAsked,
  SlugFree,
} from './authority.model.ts';
import {
  changeOrganization,
  createOrganization,
  loadFullOrganization,
  hasPermission,
  requireOrganizationId,
  listOwnOrganizations,
  removeOrganization,
  requireFreeSlug,
} from './authority.service.ts';
import { addMember, changeMemberRole, leaveOrganization, loadMembers, removeMember } from './members.service.ts';

interface FullQuery {
  /** Organization, by its UUID. Empty counts as absent. */
  organizationId?: string;
  /** Organization, by its slug. Wins over the id. */
  organizationSlug?: string;
  /**
   * Members to answer at most, 1 to 100; 100 by default.
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  membersLimit?: number;
}

interface MembersQuery extends InOrganization {
  /**
   * Rows at most, 0 to 100; 100 by default.
   * @isInt
   * @minimum 0
   * @maximum 100
   */
  limit?: number;
  /**
   * Rows to skip before the first; 0 by default.
   * @isInt
   * @minimum 0
   */
  offset?: number;
  /** What the members are ordered by; `createdAt` by default. */
  sortBy?: 'createdAt' | 'role';
  /** `asc`: oldest or first in the alphabet first, the default. `desc`: the other way round. */
  sortDirection?: 'asc' | 'desc';
  /** `role`: answer only members whose role is `filterValue`. */
  filterField?: 'role';
  /** Only `eq` is known, and it is the default. */
  filterOperator?: 'eq';
  /** Role that members must have, where `filterField` is given. */
  filterValue?: string;
}

/** Organizations as their members manage them: for sessions only, an API key cannot change an organization. */
@Route('api/v1/auth/organization')
@Tags('Organization management')
@Security('session')
export class OrganizationAuthorityController extends ApiController {
  /**
   * For everybody who is signed in by a session; you become its owner. Refused with SLUG_INVALID or SLUG_RESERVED (400), and
   * ORGANIZATION_ALREADY_EXISTS (409) when the slug is taken.
   * @summary Create an organization
   */
  @Post('create')
  public async createOrganization(@Body() body: NewOrganization): Promise<CreatedOrganization> {
    return createOrganization(this.ctx, this.caller, body);
  }

  /**
   * For everybody who is signed in by a session. Answers true when it can be had; else refuses with SLUG_INVALID or SLUG_RESERVED (400), or
   * ORGANIZATION_SLUG_ALREADY_TAKEN (409).
   * @summary Check whether a slug is free
   */
  @Post('check-slug')
  public async checkOrganizationSlug(@Body() body: SlugAsked): Promise<SlugFree> {
    await requireFreeSlug(this.ctx, body.slug);
    return { status: true };
  }

  /**
   * Only for owners by a session, else YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION (403). Fields that are left out keep their value. A personal
   * workspace refuses with PERSONAL_WORKSPACE (400), a slug that is taken with ORGANIZATION_SLUG_ALREADY_TAKEN (409).
   * @summary Change an organization
   */
  @Post('update')
  public async updateOrganization(@Body() body: OrganizationUpdate): Promise<ManagedOrganization> {
    return changeOrganization(this.ctx, this.caller, requireOrganizationId(body.organizationId), body.data);
  }

  /**
   * Only for owners by a session, else YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_ORGANIZATION (403). While it owns anything it refuses with
   * ORGANIZATION_OWNS_RESOURCES (409), which counts what it owns by type. A personal workspace refuses with PERSONAL_WORKSPACE (400). There is no way
   * back.
   * @summary Delete an organization
   */
  @Post('delete')
  public async deleteOrganization(@Body() body: OrganizationNamed): Promise<ManagedOrganization> {
    return removeOrganization(this.ctx, this.caller, requireOrganizationId(body.organizationId));
  }

  /**
   * For everybody who is signed in by a session. Answers the organizations that you are in, the personal one too.
   * @summary List your organizations
   */
  @Get('list')
  public async listManagedOrganizations(): Promise<ManagedOrganization[]> {
    return listOwnOrganizations(this.ctx.db, this.caller);
  }

  /**
   * Only for its members by a session, else YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION (403), as for one that does not exist. Owners and admins see
   * its invitations too. Null when none is named.
   * @summary Read an organization with members and teams
   */
  @Get('get-full-organization')
  public async getFullOrganization(@Queries() query: FullQuery): Promise<FullOrganization | null> {
    return loadFullOrganization(this.ctx, this.caller, {
      id: query.organizationId,
      slug: query.organizationSlug,
      membersLimit: query.membersLimit,
    });
  }

  /**
   * Only for members of the organization by a session, else USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION (400). Answers whether your role covers every
   * one of the asked verbs.
   * @summary Check what your role permits
   */
  @Post('has-permission')
  public async checkPermission(@Body() body: PermissionAsked): Promise<PermissionAnswer> {
    return hasPermission(this.ctx, this.caller, body);
  }

  /**
   * Only for members of the organization by a session, else YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION (403). Answers the members, and how many match.
   * @summary List members with their accounts
   */
  @Get('list-members')
  public async listMembers(@Queries() query: MembersQuery): Promise<MemberList> {
    const { limit, offset, sortBy, sortDirection } = query;
    const role = query.filterField === 'role' ? query.filterValue : undefined;
    return loadMembers(this.ctx, this.caller, requireOrganizationId(query.organizationId), { limit, offset, sortBy, sortDirection, role });
  }

  /**
   * Only for owners and admins by a session, else YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION (403). The person must have an active
   * profile, else USER_NOT_FOUND (404); only an owner may make somebody an owner. Refused with USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION or
   * PERSONAL_WORKSPACE (400), and ORGANIZATION_MEMBERSHIP_LIMIT_REACHED (403) at 100 members.
   * @summary Add a person to an organization
   */
  @Post('add-member')
  public async addMember(@Body() body: NewOrganizationMember): Promise<ManagedMember> {
    return addMember(this.ctx, this.caller, body);
  }

  /**
   * Only for owners and admins by a session, else YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER (403); only owners remove owners. The person's direct
   * grants stay. The last owner is refused with YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER, who is no member with MEMBER_NOT_FOUND (400).
   * @summary Remove a member from an organization
   */
  @Post('remove-member')
  public async removeMember(@Body() body: MemberRemoval): Promise<RemovedMember> {
    return { member: await removeMember(this.ctx, this.caller, requireOrganizationId(body.organizationId), body.memberIdOrEmail) };
  }

  /**
   * Only for owners and admins by a session, else YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER (403); only owners make or change owners. Refused with
   * ROLE_NOT_FOUND, MEMBER_NOT_FOUND, and YOU_CANNOT_LEAVE_THE_ORGANIZATION_WITHOUT_AN_OWNER (400) for the last owner.
   * @summary Change the role of a member
   */
  @Post('update-member-role')
  public async changeMemberRole(@Body() body: RoleChange): Promise<ManagedMember> {
    return changeMemberRole(this.ctx, this.caller, requireOrganizationId(body.organizationId), body);
  }

  /**
   * For its members by a session. Never of a personal workspace, which refuses with PERSONAL_WORKSPACE (400); the last owner is refused with
   * YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER (400).
   * @summary Leave an organization
   */
  @Post('leave')
  public async leaveOrganization(@Body() body: OrganizationNamed): Promise<ManagedMember> {
    return leaveOrganization(this.ctx, this.caller, requireOrganizationId(body.organizationId));
  }
}
