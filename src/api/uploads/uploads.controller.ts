import type { Request as HttpRequest } from 'express';
import { Get, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { COUNT_LIMIT, listed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { claimIdempotencyKey } from '../../http/idempotency.ts';
import { multipartParts } from '../../http/multipart.ts';
import type { UploadList, UploadReport } from './uploads.model.ts';
import { countUploads, listUploads } from './uploads.queries.ts';
import { receiveUpload, replayUpload, uploadReport } from './uploads.service.ts';

interface UploadListQuery {
  /** @pattern ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ */
  uploadTableId?: string;
  /**
   * @minLength 1
   * @maxLength 63
   */
  uploadTableName?: string;
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  pageSize?: number;
}

const MOST_FILES = 1_000;

@Route('api/v1/experiments/{id}/data/uploads')
@Tags('Uploads')
export class UploadsController extends ApiController {
  /** Uploads into the tables of an experiment, newest first, with counts that reconcile: rowsIn = rowCount + quarantined + alreadyThere. */
  @Get()
  @Security('caller', ['experiment:contribute'])
  public async list(@Request() request: HttpRequest, @Path() id: string, @Queries() query: UploadListQuery): Promise<UploadList> {
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? 1_000 };
    const filter = { experimentId: id, uploadTableId: query.uploadTableId, uploadTableName: query.uploadTableName };
    const [rows, total] = await Promise.all([
      listUploads(this.ctx.db, this.caller.userId, filter, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countUploads(this.ctx.db, filter, COUNT_LIMIT + 1),
    ]);
    return { uploads: listed(request, this.response, { rows, total }, page) };
  }

  /**
   * Sends files into a table, as multipart/form-data: first the fields `sourceKind` (ambyte, csv, tsv, xlsx, parquet, json, ndjson), `targetKind`
   * (`new` with `targetName`, which needs the manage action, or `existing` with `uploadTableId`), then parts named `files`. The answer is the upload;
   * its rows are read in the background, and GET on the upload tells how far that is.
   *
   * Of csv, tsv and xlsx files every column is read as nearly all of its values are written: missing values (NA, N/A, n/a, NaN, nan, null, NULL, None, -, . and
   * nothing), blanks around numbers, decimal commas between semicolons, true, false, yes and no, days in one order. The report of each file says of every
   * column its type, how many values are missing and how many odd, with examples. The fields `missing`, `decimal`, `dateOrder` and `types` say it instead.
   * Of an xlsx file the first sheet is read, or the one that `sheet` names.
   */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async create(@Request() request: HttpRequest, @Path() id: string): Promise<UploadReport> {
    const { caller } = this;
    const report = await receiveUpload(
      this.ctx,
      caller,
      id,
      multipartParts(request, { files: MOST_FILES, fileBytes: this.ctx.config.limits.uploadFileBytes }),
      {
        announcedBytes: Number(request.headers['content-length'] ?? 0),
        signal: this.exchange.signal,
        claim: (fingerprint) => claimIdempotencyKey(request, this.response, caller, fingerprint),
      },
    );
    this.setStatus(201);
    return report;
  }

  /** One upload, with what became of every file and column. */
  @Get('{uploadId}')
  @Security('caller', ['experiment:contribute'])
  public async get(@Path() id: string, @Path() uploadId: string): Promise<UploadReport> {
    return uploadReport(this.ctx, this.caller, { experimentId: id, uploadId });
  }

  /**
   * Reads the quarantined records of an upload again, in the background: what can be read by now is stored under the row ids that it would have had, and
   * leaves the quarantine; nothing else changes. For use after an update or a raised limit of the service. An upload that quarantined nothing is answered as it is,
   * and one whose table was removed is refused.
   */
  @Post('{uploadId}/replay')
  @Security('caller', ['experiment:contribute'])
  public async replay(@Path() id: string, @Path() uploadId: string): Promise<UploadReport> {
    return replayUpload(this.ctx, this.caller, id, uploadId);
  }
}
