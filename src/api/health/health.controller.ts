import { Get, Route, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Liveness, Readiness, ServerTime } from './health.model.ts';

@Route('health')
@Tags('Health')
export class HealthController extends ApiController {
  /** The service's clock, for devices that have none. */
  @Get('time')
  public time(): ServerTime {
    const now = new Date();
    return { utcTimestampMs: now.getTime(), utcTimestampSec: Math.floor(now.getTime() / 1000), iso: now.toISOString() };
  }

  /** Whether the process answers at all. */
  @Get('live')
  public live(): Liveness {
    return { status: 'ok' };
  }

  /** Whether requests can be served now. The details are on the admin port. */
  @Get('ready')
  public async ready(): Promise<Readiness> {
    if (!this.ctx.ready) throw errors.shuttingDown().with({ retryAfter: 1 });
    await this.ctx.db.ping();
    return { status: 'ready' };
  }
}
