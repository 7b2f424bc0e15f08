import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageOrWhole, sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { makeFilter } from '../resources/resources.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
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
import { addMembers, createGroup, patchGroup, removeGroup, removeMember, loadMembers } from './device-groups.service.ts';
import { issueForGroup, onboardGroup, revokeForGroup, rotateForGroup } from './group-changes.service.ts';

interface DeviceGroupListQuery extends ListPage {
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. `all` by default. */
  scope?: 'all' | 'related';
  /**
   * Part of a name or description; at most 200 characters.
   * @maxLength 200
   */
  search?: string;
}

@Route('api/v1/device-groups')
@Tags('Device groups')
export class DeviceGroupsController extends ApiController {
  /**
   * Answers the groups that you may read, newest first, with the number of their members. X-Total-Count says how many there are, exactly up to 10,000
   * or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the device groups you may read
   */
  @Get()
  @Security('caller')
  public async listDeviceGroups(@Queries() query: DeviceGroupListQuery): Promise<CountedDeviceGroup[]> {
    const page = readPageOrWhole(query);
    const filter = makeFilter(this.caller.userId, query);
    return this.answerPage(page, listGroups(this.ctx.db, filter, page), countGroups(this.ctx.db, filter, this.countLimit));
  }

  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. It is private. Refused with NOT_A_MEMBER (403)
   * for an organization of others.
   * @summary Create a device group
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createDeviceGroup(@Body() body: NewDeviceGroup): Promise<DeviceGroup> {
    return createGroup(this.ctx, this.caller, body);
  }

  /**
   * For everybody who may read the group. Answers the group, how many devices are in it, and what you may do with it.
   * @summary Read one device group
   */
  @Get('{groupId}')
  @Security('caller', ['device_group:read'])
  public async getDeviceGroup(@Path() groupId: string): Promise<DeviceGroupDetail> {
    return this.answerWithCapabilities('device_group', groupId, findGroup(this.ctx.db, groupId));
  }

  /**
   * Only for owners and admins of the group. Fields that are left out keep their value, a null description clears it. With `If-Match`, a newer
   * version refuses with PRECONDITION_FAILED (412).
   * @summary Change a device group
   */
  @Patch('{groupId}')
  @Security('caller', ['device_group:update'])
  public async updateDeviceGroup(@Path() groupId: string, @Body() body: DeviceGroupPatch): Promise<DeviceGroup> {
    const changed = await patchGroup(this.ctx, this.caller, this.readTarget({ id: groupId }), body);
    const { memberCount: _memberCount, ...group } = changed;
    return this.answer(group);
  }

  /**
   * Only for owners and admins of the group. Its devices stay. With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Delete a device group
   */
  @Delete('{groupId}')
  @Security('caller', ['device_group:manage'])
  public async deleteDeviceGroup(@Path() groupId: string): Promise<null> {
    return removeGroup(this.ctx, this.caller, this.readTarget({ id: groupId }));
  }

  /**
   * For everybody who may read the group. Answers the members, newest first. Of a device that you may not read, only that it is there. X-Total-Count
   * says how many there are, and Link leads to the other pages.
   * @summary List the devices of a group
   */
  @Get('{groupId}/devices')
  @Security('caller', ['device_group:read'])
  public async listDeviceGroupMembers(@Path() groupId: string, @Queries() page: ListPage): Promise<GroupMember[]> {
    return sliceList(this.response, await loadMembers(this.ctx, this.caller, groupId), page);
  }

  /**
   * Only for owners and admins of the group. You must be able to manage every device. All are added, or none; the members are answered. A device that
   * is in the group already stays.
   * @summary Add devices to a group
   */
  @Post('{groupId}/devices')
  @Security('caller', ['device_group:contribute'])
  public async addDeviceGroupMembers(@Path() groupId: string, @Body() body: NewGroupMembers): Promise<GroupMember[]> {
    await addMembers(this.ctx, this.caller, groupId, body.deviceIds);
    return loadMembers(this.ctx, this.caller, groupId);
  }

  /**
   * Only for owners and admins of the group. The same again changes nothing.
   * @summary Take a device out of a group
   */
  @Delete('{groupId}/devices/{deviceId}')
  @Security('caller', ['device_group:contribute'])
  public async removeDeviceGroupMember(@Path() groupId: string, @Path() deviceId: string): Promise<null> {
    return removeMember(this.ctx, this.caller, groupId, deviceId);
  }

  /**
   * Only for owners and admins of the group. Binds members that you may manage, each by itself, as `onboard` of a device does. A row that is refused
   * says why and keeps none of the others back. More than 100 members refuse with TOO_MANY_SELECTED (400).
   * @summary Bind devices of a group to experiments
   */
  @Post('{groupId}/onboard')
  @Security('caller', ['device_group:contribute'])
  public async onboardDeviceGroup(@Path() groupId: string, @Body() body?: GroupOnboarding): Promise<GroupOnboardAnswer> {
    return onboardGroup(this.ctx, this.caller, groupId, body ?? {});
  }

  /**
   * Only for owners and admins of the group. Gives members without a certificate one each; a row that is refused says why. The answer is shown once
   * and kept nowhere. With signing requests no private keys but the devices' own exist. More than 100 members refuse with TOO_MANY_SELECTED (400).
   * @summary Issue certificates for devices of a group
   */
  @Post('{groupId}/credentials')
  @Security('caller', ['device_group:manage'])
  public async issueDeviceGroupCredentials(@Path() groupId: string, @Body() body?: GroupCertification): Promise<GroupCredentialsAnswer> {
    this.response.setHeader('Cache-Control', 'no-store');
    return issueForGroup(this.ctx, this.caller, groupId, body ?? {});
  }

  /**
   * Only for owners and admins of the group. Gives members another certificate each; the old ones end when this answer has gone out. A row that is
   * refused says why. The answer is shown once and kept nowhere. More than 100 members refuse with TOO_MANY_SELECTED (400).
   * @summary Replace certificates for devices of a group
   */
  @Post('{groupId}/credentials/rotate')
  @Security('caller', ['device_group:manage'])
  public async rotateDeviceGroupCredentials(@Path() groupId: string, @Body() body?: GroupCertification): Promise<GroupCredentialsAnswer> {
    this.response.setHeader('Cache-Control', 'no-store');
    const { answer, retire } = await rotateForGroup(this.ctx, this.caller, groupId, body ?? {});
    this.response.once('finish', () => {
      retire().catch((error: unknown) => this.ctx.log.warn({ err: error, groupId }, 'old certificates could not be ended yet'));
    });
    return answer;
  }

  /**
   * Only for owners and admins of the group. Ends the certificates of members, and their live connections; a row that is refused says why. More than
   * 100 members refuse with TOO_MANY_SELECTED (400).
   * @summary Revoke certificates of devices of a group
   */
  @Post('{groupId}/credentials/revoke')
  @Security('caller', ['device_group:manage'])
  public async revokeDeviceGroupCredentials(@Path() groupId: string, @Body() body?: GroupSelection): Promise<GroupRevokeAnswer> {
    return revokeForGroup(this.ctx, this.caller, groupId, body ?? {});
  }
}
