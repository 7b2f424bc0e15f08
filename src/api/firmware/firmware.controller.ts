import { Get, Path, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { FirmwareFamily, FirmwareReleases } from './firmware.model.ts';
import { firmwareReleases } from './firmware.service.ts';

@Route('api/v1/iot/firmware')
@Tags('IoT')
export class FirmwareController extends ApiController {
  /** Published firmware of a family, newest first. `latest` marks the highest version that is not a prerelease. */
  @Get('{family}/releases')
  @Security('caller')
  public async releases(@Path() family: FirmwareFamily): Promise<FirmwareReleases> {
    return firmwareReleases(this.ctx, family);
  }
}
