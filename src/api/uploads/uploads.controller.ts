import { Get, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { holdIdempotencyKey } from '../../http/answers/idempotency.ts';
import { readParts } from '../../http/requests/multipart.ts';
import { PREVIEW_LIMITS } from '../../ingest/limits.ts';
import { previewUpload } from './preview.service.ts';
import type { UploadList, UploadPreview, UploadReport } from './uploads.model.ts';
import { countUploads, listUploads } from './uploads.queries.ts';
import { replayUpload, withdrawUpload } from './reopening.service.ts';
import { receiveUpload, loadReport } from './uploads.service.ts';
import type { LongPageQuery } from '../resources/resources.model.ts';

interface UploadListQuery extends LongPageQuery {
  /**
   * Only uploads into this table, by its UUID.
   * @pattern ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$
   */
  uploadTableId?: string;
  /**
   * Only uploads into the table of this name, 1 to 63 characters.
   * @minLength 1
   * @maxLength 63
   */
  uploadTableName?: string;
}

const MOST_FILES = 1_000;

@Route('api/v1/experiments/{id}/data/uploads')
@Tags('Uploads and exports')
export class UploadsController extends ApiController {
  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Answers the uploads into its tables,
   * newest first, with counts that reconcile: rowsIn = rowCount + quarantined + alreadyThere. X-Total-Count says how many there are, and Link leads
   * to the other pages.
   * @summary List uploads into an experiment
   */
  @Get()
  @Security('caller', ['experiment:contribute'])
  public async listUploads(@Path() id: string, @Queries() query: UploadListQuery): Promise<UploadList> {
    const page = readPageQuery(query, 1_000);
    const filter = { experimentId: id, uploadTableId: query.uploadTableId, uploadTableName: query.uploadTableName };
    return {
      uploads: await this.answerPage(
        page,
        listUploads(this.ctx.db, this.caller.userId, filter, page),
        countUploads(this.ctx.db, filter, this.countLimit),
      ),
    };
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. A new table is for owners and admins of the
   * experiment only. Sends files as multipart/form-data: first the fields `sourceKind` (ambyte, csv, tsv, xlsx, parquet, json, ndjson), `targetKind`
   * (`new` with `targetName`, or `existing` with `uploadTableId`), then parts named `files`. Whether you may is asked again once all has come. The answer is
   * the upload; its rows are read in the background, and GET on the upload tells how far that is. Refused with TABLE_NAME_TAKEN or EXPERIMENT_ARCHIVED (409), TABLE_DELETED (410) when the table
   * was removed meanwhile, UPLOAD_REFUSED (400) for a name or order of parts that cannot be, and FILE_TOO_LARGE or PAYLOAD_TOO_LARGE (413).
   *
   * Of csv, tsv and xlsx files every column is read as nearly all of its values are written: missing values (NA, N/A, n/a, NaN, nan, null, NULL, None, -,
   * . and nothing), blanks around numbers, decimal commas between semicolons, true, false, yes and no, days in one order. The report of each file says of every
   * column its type, how many values are missing and how many odd, with examples. The fields `missing`, `decimal`, `dateOrder` and `types` say it instead.
   * Titles above the header are passed over, and one or two rows of units below it are no records; `headerRow` and `unitsRow` say where the header is, and whether there is such a row.
   * Columns that `leaveOut` names are not stored, and the report names them.
   * Of an xlsx file the first sheet that is not hidden is read, or the one that `sheet` names.
   * @summary Upload files into a table
   */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async uploadFiles(@Path() id: string): Promise<UploadReport> {
    const { caller } = this;
    const parts = readParts(this.request, { files: MOST_FILES, fileBytes: this.ctx.config.limits.uploadFileBytes });
    return receiveUpload(this.ctx, caller, id, parts, {
      announcedBytes: Number(this.request.headers['content-length'] ?? 0),
      signal: this.exchange.signal,
      holdKey: () => holdIdempotencyKey(this.request, this.response, caller),
    });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. What goes into a new table is for owners and
   * admins of the experiment only. Says what an upload would decide: of every column its type, its missing values and the marks that stand for them, what is
   * odd, its first values as they are read, and how it fits the table. Nothing is stored. The fields are those of an upload (`targetName` may be left
   * out), then come up to ten parts of at most 4 MiB: `files` for whole files, `parts` for the beginnings of larger ones. Of a whole file the decision is
   * what the report of the upload will say; of a beginning it is what its records say, but for the last, which may be cut. Parquet files and workbooks are
   * looked at whole. A file that cannot be read has the status `failed` and says why. Refused with TABLE_NAME_TAKEN or EXPERIMENT_ARCHIVED (409),
   * UPLOAD_REFUSED (400) for a name or order of parts that cannot be, and FILE_TOO_LARGE (413).
   * @summary Look at files before they are uploaded
   */
  @Post('preview')
  @Security('caller', ['experiment:contribute'])
  public async previewUpload(@Path() id: string): Promise<UploadPreview> {
    const { maxFiles, maxFileBytes } = PREVIEW_LIMITS;
    const { signal } = this.exchange;
    return previewUpload(this.ctx, this.caller, id, readParts(this.request, { files: maxFiles, fileBytes: maxFileBytes }), { signal });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Answers the upload with what became of
   * every file and column. Until its `status` has ended, the counts still grow.
   * @summary Read one upload and its report
   */
  @Get('{uploadId}')
  @Security('caller', ['experiment:contribute'])
  public async getUpload(@Path() id: string, @Path() uploadId: string): Promise<UploadReport> {
    return loadReport(this.ctx.db, this.caller, { experimentId: id, uploadId });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Reads the quarantined records of an
   * upload again, in the background: what can be read by now is stored under the row ids that it would have had, and leaves the quarantine; nothing
   * else changes. Files that failed with the reason `processing_failed` are read again too. It is for use after an update or a raised limit of the service. An upload with neither is answered as it is. Refused
   * with UPLOAD_RUNNING while the upload is being read, EXPERIMENT_ARCHIVED (409), and TABLE_DELETED (410) when its table was removed.
   * @summary Read the quarantined records again
   */
  @Post('{uploadId}/replay')
  @Security('caller', ['experiment:contribute'])
  public async replayUpload(@Path() id: string, @Path() uploadId: string): Promise<UploadReport> {
    return replayUpload(this.ctx, this.caller, id, uploadId);
  }

  /**
   * For whoever sent the upload and may still contribute, and for owners and admins of the experiment. Takes its rows out of the table again, and its
   * records out of the quarantine, in the background: the upload is `running` until then. Columns that came with it and of which no other row has a
   * value go too; types that it widened stay. Earlier versions of the table (`asOf`) have the rows as long as they are kept, the files that were sent
   * are removed, and annotations of the rows are back when the same file is sent again. A file that another upload brought first stays; one that later uploads
   * found there already goes. An upload that was withdrawn is answered as it is. Refused with TABLE_BUSY while an upload of the table is under way,
   * EXPERIMENT_ARCHIVED (409), and TABLE_DELETED (410) when its table was removed.
   * @summary Take the rows of an upload back
   */
  @Post('{uploadId}/withdraw')
  @Security('caller', ['experiment:contribute'])
  public async withdrawUpload(@Path() id: string, @Path() uploadId: string): Promise<UploadReport> {
    return withdrawUpload(this.ctx, this.caller, id, uploadId);
  }
}
