import { Body, Get, Post, Route, Security, Tags } from '@tsoa/runtime';
import { audit } from '../../auth/audit.ts';
import { ApiController } from '../../http/controllers.ts';
import type { CloudCredentials, RegistryAnswer, RegistryQuestion } from './devices.model.ts';
import { listReadableThings } from './devices.queries.ts';

@Route('api/v1/iot')
@Tags('IoT')
export class DeviceRegistryController extends ApiController {
  /** Credentials of yours for one hour: they publish under your own topic tree and nowhere else. */
  @Get('credentials')
  @Security('caller')
  public async credentials(): Promise<CloudCredentials> {
    const issued = await this.ctx.iot.credentials.issue(this.caller.userId);
    await this.ctx.db.transaction((tx) => audit(tx, this.caller, { action: 'temporary-credentials.issued' }));
    return issued;
  }

  /** Devices by thing name. One that you may not read looks like one that does not exist. */
  @Post('devices/registry')
  @Security('caller')
  public async registry(@Body() body: RegistryQuestion): Promise<RegistryAnswer> {
    return { devices: await listReadableThings(this.ctx.db, this.caller.userId, [...new Set(body.thingNames)]), success: true };
  }
}
