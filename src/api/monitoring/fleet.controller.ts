import { Get, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { FleetMonitoring, MonitoringBucket } from './monitoring.model.ts';
import { monitorFleet } from './monitoring.service.ts';
import { readRange } from './ranges.ts';

// routes are matched in the reverse order of folders, and later `monitoring` would be taken for a device's id
@Route('api/v1/devices/monitoring')
@Tags('Monitoring')
export class FleetMonitoringController extends ApiController {
  /**
   * Answers the time of each device's newest measurement, measurements by bucket, and the newest connections. What could be more than 100,000 points
   * refuses with RANGE_INVALID (400), which names a range that fits.
   * @summary Watch all devices you may read
   * @param from Beginning of the range, which belongs to it.
   * @param to End of the range, which does not belong to it; at most 31 days after `from`.
   * @param bucket Counts are summed up by `hour` or `day`, in UTC.
   */
  @Get()
  @Security('caller')
  public async getFleetMonitoring(@Query() from: Date, @Query() to: Date, @Query() bucket: MonitoringBucket): Promise<FleetMonitoring> {
    return monitorFleet(this.ctx, this.caller.userId, readRange(from, to), bucket);
  }
}
