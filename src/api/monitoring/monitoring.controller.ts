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
import { loadActivity, loadFirmwareHistory, monitorDevice, monitorGroup, loadObservedExperiments } from './monitoring.service.ts';
import { readRange } from './ranges.ts';

@Route('api/v1/devices')
@Tags('Monitoring')
export class MonitoringController extends ApiController {
  /**
   * For everybody who may read the device. Answers the time of its newest measurement, to whichever experiment it went.
   * @summary Read when a device last sent data
   */
  @Get('{deviceId}/activity')
  @Security('caller', ['device:read'])
  public async getDeviceActivity(@Path() deviceId: string): Promise<DeviceActivity> {
    return loadActivity(this.ctx, deviceId);
  }

  /**
   * For everybody who may read the device. Answers the versions in order; a version that came back is there again. A range that is empty or too long
   * refuses with RANGE_INVALID (400).
   * @summary Read which firmware a device has run
   * @param from Beginning of the range, which belongs to it.
   * @param to End of the range, which does not belong to it; at most 31 days after `from`.
   * @param bucket Counts are summed up by `hour` or `day`, in UTC.
   */
  @Get('{deviceId}/firmware-history')
  @Security('caller', ['device:read'])
  public async getFirmwareHistory(
    @Path() deviceId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<FirmwareHistory> {
    return loadFirmwareHistory(this.ctx, deviceId, readRange(from, to), bucket);
  }

  /**
   * For everybody who may read the device. Answers its connections, sessions, uptime, throughput, battery and payload. Of experiments that you may
   * not read there is only a count. A range that is empty or too long refuses with RANGE_INVALID (400).
   * @summary Watch one device
   * @param from Beginning of the range, which belongs to it.
   * @param to End of the range, which does not belong to it; at most 31 days after `from`.
   * @param bucket Counts are summed up by `hour` or `day`, in UTC.
   */
  @Get('{deviceId}/monitoring')
  @Security('caller', ['device:read'])
  public async getDeviceMonitoring(
    @Path() deviceId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<DeviceMonitoring> {
    return monitorDevice(this.ctx, this.caller.userId, deviceId, readRange(from, to), bucket);
  }

  /**
   * For everybody who may read the device. Busiest first; those that you may not read are one row without an id. A range that is empty or too long
   * refuses with RANGE_INVALID (400).
   * @summary List experiments a device has sent to
   * @param from Beginning of the range, which belongs to it.
   * @param to End of the range, which does not belong to it; at most 31 days after `from`.
   */
  @Get('{deviceId}/experiments/observed')
  @Security('caller', ['device:read'])
  public async listObservedExperiments(@Path() deviceId: string, @Query() from: Date, @Query() to: Date): Promise<ObservedExperiments> {
    return loadObservedExperiments(this.ctx, this.caller.userId, deviceId, readRange(from, to));
  }
}

@Route('api/v1/device-groups')
@Tags('Monitoring')
export class GroupMonitoringController extends ApiController {
  /**
   * For everybody who may read the group. Answers connections, measurements by bucket and experiment, and firmware of the members that you may read.
   * A range that is empty or too long refuses with RANGE_INVALID (400).
   * @summary Watch the devices of a group
   * @param from Beginning of the range, which belongs to it.
   * @param to End of the range, which does not belong to it; at most 31 days after `from`.
   * @param bucket Counts are summed up by `hour` or `day`, in UTC.
   */
  @Get('{groupId}/monitoring')
  @Security('caller', ['device_group:read'])
  public async getDeviceGroupMonitoring(
    @Path() groupId: string,
    @Query() from: Date,
    @Query() to: Date,
    @Query() bucket: MonitoringBucket,
  ): Promise<GroupMonitoring> {
    return monitorGroup(this.ctx, this.caller.userId, groupId, readRange(from, to), bucket);
  }
}
