import { Get, Path, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { FirmwareFamily, FirmwareReleases } from './firmware.model.ts';
import { loadReleases } from './firmware.service.ts';

@Route('api/v1/iot/firmware')
@Tags('Devices')
export class FirmwareController extends ApiController {
  /**
   * For everybody who is signed in. Answers published firmware, newest first; `latest` marks the highest version that is not a prerelease. A family
   * without releases is FIRMWARE_UNAVAILABLE (404).
   * @summary List firmware releases of a family
   * @param family Kind of instrument.
   */
  @Get('{family}/releases')
  @Security('caller')
  public async listFirmwareReleases(@Path() family: FirmwareFamily): Promise<FirmwareReleases> {
    return loadReleases(this.ctx, family);
  }
}
