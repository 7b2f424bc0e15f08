import { Get, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { FleetMonitoring, MonitoringBucket } from './monitoring.model.ts';
import { monitorFleet } from './monitoring.service.ts';
import { rangeOf } from './ranges.ts';

// routes are matched in the reverse order of folders, and later `monitoring` would be taken for a device's id
@Route('api/v1/devices/monitoring')
@Tags('Monitoring')
export class FleetMonitoringController extends ApiController {
  /** All devices that you may read: last data, messages by bucket, the newest connections. The range is half-open, at most 31 days. */
  @Get()
  @Security('caller')
  public async fleet(@Query() from: Date, @Query() to: Date, @Query() bucket: MonitoringBucket): Promise<FleetMonitoring> {
    return monitorFleet(this.ctx, this.caller.userId, rangeOf(from, to), bucket);
  }
}
