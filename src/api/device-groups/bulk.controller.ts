import { Body, Post, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { BulkDevicesResult, NewDevices } from '../devices/devices.model.ts';
import { registerMany } from './bulk.service.ts';

@Route('api/v1/devices/bulk')
@Tags('Devices')
export class BulkDevicesController extends ApiController {
  /** Registers up to 100 devices of one type. One that fails says so in its row and keeps none of the others back. */
  @Post()
  @Security('caller')
  public async bulk(@Body() body: NewDevices): Promise<BulkDevicesResult> {
    return registerMany(this.ctx, this.caller, body);
  }
}
