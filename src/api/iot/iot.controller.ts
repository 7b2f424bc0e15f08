import { Body, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { signUploadUrl } from './arrivals.service.ts';
import type { NewUploadUrl, UploadUrl } from './iot.model.ts';

@Route('api/v1/iot')
@Tags('Health and IoT')
export class IotController extends ApiController {
  /**
   * A URL by which one object can be put, once, within 15 minutes: one measurement message, a JSON array of them or NDJSON, optionally gzip, at most 32 MiB.
   * Its measurements are rows a second or two after it has arrived. Needs the contribute action on the experiment that the body names.
   */
  @Post('upload-url')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createUploadUrl(@Body() body: NewUploadUrl): Promise<UploadUrl> {
    const made = await signUploadUrl(this.ctx, this.caller, body);
    this.setStatus(201);
    return made;
  }
}
