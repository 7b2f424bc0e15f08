import { Body, Delete, Get, Middlewares, Path, Post, Produces, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { setListHeaders, readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { sendFile } from '../../http/answers/ranges.ts';
import { requireBodyTable, requireTable, getTable } from '../../http/tables.ts';
import { DOWNLOAD_TYPES } from '../../lakehouse/read/read.ts';
import type { ExportList, ExportStarted, ExportStatus, NewExport } from './exports.model.ts';
import { openExport, loadExports, loadExportStatus, removeExport, startExport } from './exports.service.ts';
import type { LongPageQuery, TableAsked } from '../resources/resources.model.ts';

interface ExportListQuery extends TableAsked, LongPageQuery {}

@Route('api/v1/experiments/{id}/data/exports')
@Tags('Uploads and exports')
export class ExportsController extends ApiController {
  /**
   * For everybody who may read the table's rows; of raw and uploaded ones that needs contribute access, else TABLE_DENIED (403). Newest first.
   * X-Total-Count says how many there are, and Link leads to the other pages.
   * @summary List exports of a table
   */
  @Get()
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  public async listExports(@Path('id') _id: string, @Queries() query: ExportListQuery): Promise<ExportList> {
    const page = readPageQuery(query, 1_000);
    const found = await loadExports(this.ctx, this.caller, getTable(this.request), page, this.countLimit);
    return { exports: setListHeaders(this.response, found, page) };
  }

  /**
   * For everybody who may read the table's rows; of raw and uploaded ones that needs contribute access, else TABLE_DENIED (403). The file is written
   * in the background, from the same query as a read of the data and with the same refusals; its rows are those of the table's version now, or of
   * `asOf`. Two exports of yours run at once, unless the operator sets another number; more wait. Who has 100 unfinished ones, or keeps 20 GB of files
   * (unless the operator sets another size), is refused with EXPORTS_FULL (409). Real names in an anonymised experiment are for its owners and admins,
   * else NAMES_DENIED (403).
   * @summary Export a table to a file
   */
  @Post()
  @Security('caller', ['experiment:read'])
  @Middlewares(requireBodyTable)
  @SuccessResponse(201, 'Created')
  public async createExport(@Path('id') _id: string, @Body() body: NewExport): Promise<ExportStarted> {
    return startExport(this.ctx, this.caller, getTable(this.request), body);
  }

  /**
   * For everybody who may read the table's rows now. The file is sent whole or, with `Range`, in parts; its ETag is its SHA-256. While it is written it answers
   * EXPORT_NOT_READY (409) with Retry-After, `exportStatus` and `progress`. A failed export is EXPORT_FAILED with the reason, a cancelled one
   * EXPORT_CANCELLED, one with real names of an experiment that was anonymised since EXPORT_WITHDRAWN (409), and one that is kept no longer
   * EXPORT_EXPIRED (410).
   * @summary Download the file of an export
   */
  @Get('{exportId}')
  @Security('caller', ['experiment:read'])
  @Produces('text/csv')
  @Produces('application/json')
  @Produces('application/x-ndjson')
  @Produces('application/vnd.apache.parquet')
  @Produces('application/vnd.apache.arrow.stream')
  @Produces('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
  public async downloadExport(@Path() id: string, @Path() exportId: string): Promise<string> {
    const file = await openExport(this.ctx, this.caller, { experimentId: id, exportId });
    await sendFile(this.request, this.response, {
      byteCount: file.byteCount,
      etag: `"${file.sha256}"`,
      contentType: DOWNLOAD_TYPES[file.format],
      fileName: file.fileName,
      modifiedAt: file.completedAt,
      open: (range) => this.ctx.objects.get(file.objectKey, range),
    });
    return '';
  }

  /**
   * For everybody who may read the table's rows; of raw and uploaded ones that needs contribute access, else TABLE_DENIED (403). Answers the export,
   * how far it is, and why it failed if it did.
   * @summary Follow an export
   */
  @Get('{exportId}/status')
  @Security('caller', ['experiment:read'])
  public async getExportStatus(@Path() id: string, @Path() exportId: string): Promise<ExportStatus> {
    return loadExportStatus(this.ctx, this.caller, { experimentId: id, exportId });
  }

  /**
   * For whoever made it; another person's needs manage access to the experiment, else EXPORT_NOT_YOURS (403). One that is not finished is cancelled
   * and stays listed; a finished one goes with its file.
   * @summary Cancel or remove an export
   */
  @Delete('{exportId}')
  @Security('caller', ['experiment:read'])
  public async deleteExport(@Path() id: string, @Path() exportId: string): Promise<null> {
    await removeExport(this.ctx, this.caller, { experimentId: id, exportId });
    return null;
  }
}
