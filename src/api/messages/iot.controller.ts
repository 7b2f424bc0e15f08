import { Body, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { completeUpload, signUploadUrl } from './arrivals.service.ts';
import type { ArrivedObject, NewUploadUrl, PutObject, UploadUrl } from './iot.model.ts';

@Route('api/v1/iot')
@Tags('Health and IoT')
export class IotController extends ApiController {
  /**
   * A URL by which one object can be put, once, within 15 minutes: one measurement message, a JSON array of them or NDJSON, optionally gzip, at most 32 MiB.
   * Its measurements are rows a second or two after it has arrived: in a folder by itself, in a bucket when `POST /iot/upload-complete` says so, else within two minutes. Needs the contribute action on the experiment that the body names.
   */
  @Post('upload-url')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createUploadUrl(@Body() body: NewUploadUrl): Promise<UploadUrl> {
    const made = await signUploadUrl(this.ctx, this.caller, body);
    this.setStatus(201);
    return made;
  }

  /**
   * Says that your object has been put, so that its measurements are rows a second or two later. It may be said again while the object waits. Needs the contribute
   * action on the experiment that the URL was for. 404 where nothing was put, or all of it was there already; 413 above 32 MiB, and the object is removed.
   */
  @Post('upload-complete')
  @Security('caller')
  public async complete(@Body() body: PutObject): Promise<ArrivedObject> {
    return completeUpload(this.ctx, this.caller, body.key, this.exchange.signal);
  }
}
