import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { expectedVersions, listed, mostCounted, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type {
  CountedDeviceGroup,
  DeviceGroup,
  DeviceGroupDetail,
  DeviceGroupPatch,
  GroupCertification,
  GroupCredentialsAnswer,
  GroupMember,
  GroupOnboardAnswer,
  GroupOnboarding,
  GroupRevokeAnswer,
  GroupSelection,
  NewDeviceGroup,
  NewGroupMembers,
} from './device-groups.model.ts';
import { countGroups, findGroup, listGroups } from './device-groups.queries.ts';
import { addMembers, createGroup, patchGroup, removeGroup, removeMember, roster } from './device-groups.service.ts';
import { issueForGroup, onboardGroup, revokeForGroup, rotateForGroup } from './group-changes.service.ts';

interface DeviceGroupListQuery {
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. */
  scope?: 'all' | 'related';
  /**
   * Part of a name or description.
   * @maxLength 200
   */
  search?: string;
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

const UNPAGED = 1_000;

@Route('api/v1/device-groups')
@Tags('Device groups')
export class DeviceGroupsController extends ApiController {
  /** Lists device groups, newest first, with the number of their members. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: DeviceGroupListQuery): Promise<CountedDeviceGroup[]> {
    const unpaged = query.page === undefined && query.pageSize === undefined;
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? (unpaged ? UNPAGED : 100) };
    const filter = { userId: this.caller.userId, scope: query.scope ?? ('all' as const), search: query.search?.trim() || undefined };
    const [rows, total] = await Promise.all([
      listGroups(this.ctx.db, filter, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countGroups(this.ctx.db, filter, mostCounted(request)),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** Creates a group, private, in an organization of yours or your personal workspace. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewDeviceGroup): Promise<DeviceGroup> {
    this.setStatus(201);
    return createGroup(this.ctx, this.caller, body);
  }

  /** One group, and what you may do with it. */
  @Get('{groupId}')
  @Security('caller', ['device_group:read'])
  public async get(@Path() groupId: string): Promise<DeviceGroupDetail> {
    const [found, capabilities] = await Promise.all([
      findGroup(this.ctx.db, groupId),
      capabilitiesOf(this.ctx.db, this.caller.userId, 'device_group', groupId),
    ]);
    if (!found) throw errors.resourceNotFound('device_group');
    const { version, ...group } = found;
    return tagged(this.response, { ...group, capabilities }, version);
  }

  /** Changes what is given; absent fields keep their value, a null description clears it. */
  @Patch('{groupId}')
  @Security('caller', ['device_group:update'])
  public async update(@Request() request: HttpRequest, @Path() groupId: string, @Body() body: DeviceGroupPatch): Promise<DeviceGroup> {
    const changed = await patchGroup(this.ctx, this.caller, groupId, body, expectedVersions(request));
    const { version, memberCount: _memberCount, ...group } = changed;
    return tagged(this.response, group, version);
  }

  /** Deletes a group. Its devices stay. */
  @Delete('{groupId}')
  @Security('caller', ['device_group:manage'])
  public async remove(@Request() request: HttpRequest, @Path() groupId: string): Promise<null> {
    return removeGroup(this.ctx, this.caller, groupId, expectedVersions(request));
  }

  /** The members, newest first. Of a device that you may not read, only that it is there. */
  @Get('{groupId}/devices')
  @Security('caller', ['device_group:read'])
  public async members(@Path() groupId: string): Promise<GroupMember[]> {
    return roster(this.ctx, this.caller, groupId);
  }

  /** Adds devices that you may manage, all or none, and answers the members. */
  @Post('{groupId}/devices')
  @Security('caller', ['device_group:contribute'])
  public async add(@Path() groupId: string, @Body() body: NewGroupMembers): Promise<GroupMember[]> {
    await addMembers(this.ctx, this.caller, groupId, body.deviceIds);
    return roster(this.ctx, this.caller, groupId);
  }

  /** Takes a device out of the group; the same again changes nothing. */
  @Delete('{groupId}/devices/{deviceId}')
  @Security('caller', ['device_group:contribute'])
  public async removeMember(@Path() groupId: string, @Path() deviceId: string): Promise<null> {
    return removeMember(this.ctx, this.caller, groupId, deviceId);
  }

  /** Onboards members that you may manage, each by itself; a row that is refused says why. */
  @Post('{groupId}/onboard')
  @Security('caller', ['device_group:contribute'])
  public async onboard(@Path() groupId: string, @Body() body?: GroupOnboarding): Promise<GroupOnboardAnswer> {
    return onboardGroup(this.ctx, this.caller, groupId, body ?? {});
  }

  /** Gives members without a certificate one each. With signing requests no private keys but the devices' own exist. */
  @Post('{groupId}/credentials')
  @Security('caller', ['device_group:manage'])
  public async issue(@Path() groupId: string, @Body() body?: GroupCertification): Promise<GroupCredentialsAnswer> {
    return issueForGroup(this.ctx, this.caller, groupId, body ?? {});
  }

  /** Gives members another certificate each. The old ones end when this answer has gone out. */
  @Post('{groupId}/credentials/rotate')
  @Security('caller', ['device_group:manage'])
  public async rotate(@Path() groupId: string, @Body() body?: GroupCertification): Promise<GroupCredentialsAnswer> {
    const { answer, retire } = await rotateForGroup(this.ctx, this.caller, groupId, body ?? {});
    this.response.once('finish', () => {
      retire().catch((error: unknown) => this.ctx.log.warn({ err: error, groupId }, 'old certificates could not be ended yet'));
    });
    return answer;
  }

  /** Ends the certificates of members. */
  @Post('{groupId}/credentials/revoke')
  @Security('caller', ['device_group:manage'])
  public async revoke(@Path() groupId: string, @Body() body?: GroupSelection): Promise<GroupRevokeAnswer> {
    return revokeForGroup(this.ctx, this.caller, groupId, body ?? {});
  }
}
