import { Body, Post, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { BulkDevicesResult, NewDevices } from './bulk.model.ts';
import { registerMany } from './bulk.service.ts';

@Route('api/v1/devices/bulk')
@Tags('Devices')
export class BulkDevicesController extends ApiController {
  /**
   * For everybody who is signed in: up to 100 devices of one type, in an organization of yours, or else in your personal workspace. One that fails
   * says so in its row and keeps none of the others back. With `group`, the new ones join it; a group that is there needs an owner or admin of it.
   * @summary Register many devices
   */
  @Post()
  @Security('caller')
  public async registerDevices(@Body() body: NewDevices): Promise<BulkDevicesResult> {
    return registerMany(this.ctx, this.caller, body);
  }
}
