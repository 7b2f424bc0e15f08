import { Get, Route, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Liveness, Readiness, ServerTime } from './health.model.ts';

@Route('health')
@Tags('Health')
export class HealthController extends ApiController {
  /**
   * For everybody, without signing in. It is for devices that have no clock of their own.
   * @summary Read the service's clock
   */
  @Get('time')
  public getServerTime(): ServerTime {
    const now = new Date();
    return { utcTimestampMs: now.getTime(), utcTimestampSec: Math.floor(now.getTime() / 1000), iso: now.toISOString() };
  }

  /**
   * For everybody, without signing in. It answers as long as the process does.
   * @summary Check that the service runs
   */
  @Get('live')
  public checkLiveness(): Liveness {
    return { status: 'ok' };
  }

  /**
   * For everybody, without signing in. Refused with NOT_READY (503) while the service starts or stops, and DATABASE_UNAVAILABLE (503)
   * without its database. The details are on the admin port.
   * @summary Check that requests can be served
   */
  @Get('ready')
  public async checkReadiness(): Promise<Readiness> {
    if (!this.ctx.ready) throw errors.notReady().with({ retryAfter: 1 });
    await Promise.all([this.ctx.db.ping(), this.ctx.admission.ping()]);
    return { status: 'ready' };
  }
}
