import { Body, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { completeUpload, signUploadUrl } from './arrivals.service.ts';
import type { ArrivedObject, NewUploadUrl, PutObject, UploadUrl } from './iot.model.ts';

@Route('api/v1/iot')
@Tags('Uploads and exports')
export class IotController extends ApiController {
  /**
   * For everybody who may contribute to the experiment that the body names. The URL takes one object, once, within 15 minutes: one measurement
   * message, a JSON array of them or NDJSON, optionally gzip, at most 32 MiB. Its measurements are rows a second or two after it has arrived: in a
   * folder by itself, in a bucket when `POST /iot/upload-complete` says so, else within two minutes. An archived experiment refuses with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Get a URL for putting measurements
   */
  @Post('upload-url')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createUploadUrl(@Body() body: NewUploadUrl): Promise<UploadUrl> {
    return signUploadUrl(this.ctx, this.caller, body);
  }

  /**
   * For who got the URL and may contribute to its experiment. The object's measurements are rows a second or two later; it may be said again while
   * the object waits. OBJECT_NOT_FOUND (404) where nothing was put, or all of it was there already; PAYLOAD_TOO_LARGE (413) above 32 MiB, and the
   * object is removed.
   * @summary Say that measurements have been put
   */
  @Post('upload-complete')
  @Security('caller')
  public async completeUpload(@Body() body: PutObject): Promise<ArrivedObject> {
    return completeUpload(this.ctx, this.caller, body.key, this.exchange.signal);
  }
}
