import { Get, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { BucketsQuery, FleetMonitoring } from './monitoring.model.ts';
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
   */
  @Get()
  @Security('caller')
  public async getFleetMonitoring(@Queries() query: BucketsQuery): Promise<FleetMonitoring> {
    return monitorFleet(this.ctx, this.caller.userId, readRange(query));
  }
}
