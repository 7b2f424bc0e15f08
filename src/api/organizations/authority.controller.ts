import { Body, Get, Post, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { Uuid } from '../sharing/sharing.model.ts';
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
  fullOrganization,
  hasPermission,
  named,
  ownOrganizations,
  removeOrganization,
  requireFreeSlug,
} from './authority.service.ts';
import { addMember, changeMemberRole, leaveOrganization, membersOf, removeMember } from './members.service.ts';

interface FullQuery {
  /** Empty counts as absent. */
  organizationId?: string;
  /** Wins over the id. */
  organizationSlug?: string;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  membersLimit?: number;
}

interface MembersQuery {
  organizationId?: Uuid;
  /**
   * @isInt
   * @minimum 0
   * @maximum 100
   */
  limit?: number;
  /**
   * @isInt
   * @minimum 0
   */
  offset?: number;
  sortBy?: 'createdAt' | 'role';
  sortDirection?: 'asc' | 'desc';
  filterField?: 'role';
  filterOperator?: 'eq';
  filterValue?: string;
}

/** Organizations as their members manage them: for sessions only, an API key cannot change an organization. */
@Route('api/v1/auth/organization')
@Tags('Organization management')
@Security('session')
export class OrganizationAuthorityController extends ApiController {
  /** Makes an organization with you as its owner. */
  @Post('create')
  public async create(@Body() body: NewOrganization): Promise<CreatedOrganization> {
    return createOrganization(this.ctx, this.caller, body);
  }

  /** Whether a slug can be had. */
  @Post('check-slug')
  public async checkSlug(@Body() body: SlugAsked): Promise<SlugFree> {
    await requireFreeSlug(this.ctx, body.slug);
    return { status: true };
  }

  /** Changes what is given. For owners. */
  @Post('update')
  public async update(@Body() body: OrganizationUpdate): Promise<ManagedOrganization> {
    return changeOrganization(this.ctx, this.caller, named(body.organizationId), body.data);
  }

  /** Deletes an organization that owns nothing. For owners. */
  @Post('delete')
  public async remove(@Body() body: OrganizationNamed): Promise<ManagedOrganization> {
    return removeOrganization(this.ctx, this.caller, named(body.organizationId));
  }

  /** Organizations that you are in, the personal one too. */
  @Get('list')
  public async list(): Promise<ManagedOrganization[]> {
    return ownOrganizations(this.ctx.db, this.caller);
  }

  /** An organization of yours with its members and teams; for owners and admins, its invitations. Null when none is named. */
  @Get('get-full-organization')
  public async full(@Queries() query: FullQuery): Promise<FullOrganization | null> {
    return fullOrganization(this.ctx, this.caller, {
      id: query.organizationId,
      slug: query.organizationSlug,
      membersLimit: query.membersLimit,
    });
  }

  /** Whether your role covers what is asked. */
  @Post('has-permission')
  public async hasPermission(@Body() body: PermissionAsked): Promise<PermissionAnswer> {
    return hasPermission(this.ctx, this.caller, body);
  }

  /** Members with their accounts. For members. */
  @Get('list-members')
  public async members(@Queries() query: MembersQuery): Promise<MemberList> {
    const { limit, offset, sortBy, sortDirection } = query;
    const role = query.filterField === 'role' ? query.filterValue : undefined;
    return membersOf(this.ctx, this.caller, named(query.organizationId), { limit, offset, sortBy, sortDirection, role });
  }

  /** Adds an active person. For owners and admins; nobody hands out a role above their own. */
  @Post('add-member')
  public async addMember(@Body() body: NewOrganizationMember): Promise<ManagedMember> {
    return addMember(this.ctx, this.caller, body);
  }

  /** Ends somebody's membership. For owners and admins. */
  @Post('remove-member')
  public async removeMember(@Body() body: MemberRemoval): Promise<RemovedMember> {
    return { member: await removeMember(this.ctx, this.caller, named(body.organizationId), body.memberIdOrEmail) };
  }

  /** Gives a member another role: exactly one of owner, admin, member. For owners and admins. */
  @Post('update-member-role')
  public async changeRole(@Body() body: RoleChange): Promise<ManagedMember> {
    return changeMemberRole(this.ctx, this.caller, named(body.organizationId), body);
  }

  /** Ends your own membership. Never of a personal workspace. */
  @Post('leave')
  public async leave(@Body() body: OrganizationNamed): Promise<ManagedMember> {
    return leaveOrganization(this.ctx, this.caller, named(body.organizationId));
  }
}
