import { Body, Get, Post, Route, Security, Tags } from '@tsoa/runtime';
import { audit } from '../../auth/audit.ts';
import { ApiController } from '../../http/controllers.ts';
import type { CloudCredentials } from '../../iot/credentials.ts';
import type { RegistryAnswer, RegistryQuestion } from './devices.model.ts';
import { listReadableThings } from './devices.queries.ts';

@Route('api/v1/iot')
@Tags('Devices')
export class DeviceRegistryController extends ApiController {
  /**
   * For everybody who is signed in. Answers credentials of yours for one hour: they publish under your own topic tree and nowhere else. When the
   * registry cannot be reached it refuses with REGISTRY_UNAVAILABLE (503).
   * @summary Get temporary credentials for publishing
   */
  @Get('credentials')
  @Security('caller')
  public async getCloudCredentials(): Promise<CloudCredentials> {
    this.response.setHeader('Cache-Control', 'no-store');
    const issued = await this.ctx.iot.credentials.issue(this.caller.userId);
    await this.ctx.db.transaction((tx) => audit(tx, this.caller, { action: 'temporary-credentials.issued' }));
    return issued;
  }

  /**
   * For everybody who is signed in. Answers those that exist and that you may read; one that you may not read looks like one that does not exist.
   * @summary Look devices up by thing name
   */
  @Post('devices/registry')
  @Security('caller')
  public async lookUpDevices(@Body() body: RegistryQuestion): Promise<RegistryAnswer> {
    return { devices: await listReadableThings(this.ctx.db, this.caller.userId, [...new Set(body.thingNames)]), success: true };
  }
}
