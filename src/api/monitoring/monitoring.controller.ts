import { Get, Path, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type {
  DeviceActivity,
  DeviceMonitoring,
  FirmwareHistory,
  GroupMonitoring,
  MonitoringBucket,
  ObservedExperiments,
} from './monitoring.model.ts';
import { activityOf, firmwareHistoryOf, monitorDevice, monitorGroup, observedBy } from './monitoring.service.ts';
import { rangeOf } from './ranges.ts';

@Route('api/v1/devices')
@Tags('Monitoring')
export class MonitoringController extends ApiController {
  /** When a device last sent data. */
  @Get('{deviceId}/activity')
  @Security('caller', ['device:read'])
  public async activity(@Path() deviceId: string): Promise<DeviceActivity> {
    return activityOf(this.ctx, deviceId);
  }

  /** Which firmware a device has run, in order; a version that came back is there again. */
  @Get('{deviceId}/firmware-history')
  @Security('caller', ['device:read'])
  public async firmware(
    @Path() deviceId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<FirmwareHistory> {
    return firmwareHistoryOf(this.ctx, deviceId, rangeOf(from, to), bucket);
  }

  /** Connections, sessions, uptime, throughput, battery and payload of a device. Of experiments that you may not read there is only a count. */
  @Get('{deviceId}/monitoring')
  @Security('caller', ['device:read'])
  public async device(
    @Path() deviceId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<DeviceMonitoring> {
    return monitorDevice(this.ctx, this.caller.userId, deviceId, rangeOf(from, to), bucket);
  }

  /** The experiments that a device has sent to, busiest first; those that you may not read are one row without an id. */
  @Get('{deviceId}/experiments/observed')
  @Security('caller', ['device:read'])
  public async observed(@Path() deviceId: string, @Query() from: Date, @Query() to: Date): Promise<ObservedExperiments> {
    return observedBy(this.ctx, this.caller.userId, deviceId, rangeOf(from, to));
  }
}

@Route('api/v1/device-groups')
@Tags('Monitoring')
export class GroupMonitoringController extends ApiController {
  /** The same for the members of a group that you may read. */
  @Get('{groupId}/monitoring')
  @Security('caller', ['device_group:read'])
  public async group(
    @Path() groupId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<GroupMonitoring> {
    return monitorGroup(this.ctx, this.caller.userId, groupId, rangeOf(from, to), bucket);
  }
}
