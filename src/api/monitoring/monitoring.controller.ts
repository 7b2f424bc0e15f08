import { Get, Path, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type {
  BucketsQuery,
  DeviceActivity,
  DeviceMonitoring,
  FirmwareHistory,
  GroupMonitoring,
  ObservedExperiments,
  RangeQuery,
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
   */
  @Get('{deviceId}/firmware-history')
  @Security('caller', ['device:read'])
  public async getFirmwareHistory(@Path() deviceId: string, @Queries() query: BucketsQuery): Promise<FirmwareHistory> {
    return loadFirmwareHistory(this.ctx, deviceId, readRange(query));
  }

  /**
   * For everybody who may read the device. Answers its connections, sessions, uptime, throughput, battery and payload. Of experiments that you may
   * not read there is only a count. A range that is empty or too long refuses with RANGE_INVALID (400).
   * @summary Watch one device
   */
  @Get('{deviceId}/monitoring')
  @Security('caller', ['device:read'])
  public async getDeviceMonitoring(@Path() deviceId: string, @Queries() query: BucketsQuery): Promise<DeviceMonitoring> {
    return monitorDevice(this.ctx, this.caller.userId, deviceId, readRange(query));
  }

  /**
   * For everybody who may read the device. Busiest first; those that you may not read are one row without an id. A range that is empty or too long
   * refuses with RANGE_INVALID (400).
   * @summary List experiments a device has sent to
   */
  @Get('{deviceId}/experiments/observed')
  @Security('caller', ['device:read'])
  public async listObservedExperiments(@Path() deviceId: string, @Queries() query: RangeQuery): Promise<ObservedExperiments> {
    return loadObservedExperiments(this.ctx, this.caller.userId, deviceId, readRange(query));
  }
}

@Route('api/v1/device-groups')
@Tags('Monitoring')
export class GroupMonitoringController extends ApiController {
  /**
   * For everybody who may read the group. Answers connections, measurements by bucket and experiment, and firmware of the members that you may read.
   * A range that is empty or too long refuses with RANGE_INVALID (400).
   * @summary Watch the devices of a group
   */
  @Get('{groupId}/monitoring')
  @Security('caller', ['device_group:read'])
  public async getDeviceGroupMonitoring(@Path() groupId: string, @Queries() query: BucketsQuery): Promise<GroupMonitoring> {
    return monitorGroup(this.ctx, this.caller.userId, groupId, readRange(query));
  }
}
