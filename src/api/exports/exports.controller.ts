import type { Request as HttpRequest } from 'express';
import {
  Body,
  Delete,
  Get,
  Middlewares,
  Path,
  Post,
  Produces,
  Queries,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { COUNT_LIMIT, listed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { sendFile } from '../../http/ranges.ts';
import { requireBodyTable, requireTable, tableOf } from '../../http/tables.ts';
import { DOWNLOAD_TYPES } from '../../lakehouse/read.ts';
import type { ExportList, ExportStarted, ExportStatus, NewExport } from './exports.model.ts';
import { exportFile, exportsOf, exportStatus, removeExport, startExport } from './exports.service.ts';

interface ExportListQuery {
  /**
   * `raw_data`, `device`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
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

@Route('api/v1/experiments/{id}/data/exports')
@Tags('Exports')
export class ExportsController extends ApiController {
  /** Exports of a table, newest first. */
  @Get()
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  public async list(@Request() request: HttpRequest, @Path('id') _id: string, @Queries() query: ExportListQuery): Promise<ExportList> {
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? 1_000 };
    const range = { limit: page.pageSize, offset: (page.page - 1) * page.pageSize };
    const found = await exportsOf(this.ctx, this.caller, tableOf(request), range, COUNT_LIMIT + 1);
    return { exports: listed(request, this.response, found, page) };
  }

  /**
   * Writes a table, or the answer of a query over it, to a file in the background: the same query as a read of the data, with the same refusals.
   * The rows are those of the table's version now. Two exports of yours run at once; more wait.
   */
  @Post()
  @Security('caller', ['experiment:read'])
  @Middlewares(requireBodyTable)
  @SuccessResponse(201, 'Created')
  public async create(@Request() request: HttpRequest, @Path('id') _id: string, @Body() body: NewExport): Promise<ExportStarted> {
    this.setStatus(201);
    return startExport(this.ctx, this.caller, tableOf(request), body);
  }

  /**
   * The file of a completed export, whole or in ranges. Until then 409 with Retry-After, `exportStatus` and `progress`; a failed or cancelled export is
   * 409 with the reason, one that is kept no longer 410.
   */
  @Get('{exportId}')
  @Security('caller', ['experiment:read'])
  @Produces('text/csv')
  @Produces('application/json')
  @Produces('application/x-ndjson')
  @Produces('application/vnd.apache.parquet')
  @Produces('application/vnd.apache.arrow.stream')
  @Produces('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
  public async download(@Request() request: HttpRequest, @Path() id: string, @Path() exportId: string): Promise<string> {
    const file = await exportFile(this.ctx, this.caller, { experimentId: id, exportId });
    await sendFile(request, this.response, {
      byteCount: file.byteCount,
      etag: `"${file.sha256}"`,
      contentType: DOWNLOAD_TYPES[file.format],
      fileName: file.fileName,
      modifiedAt: file.completedAt,
      open: (range) => this.ctx.objects.get(file.objectKey, range),
    });
    return '';
  }

  /** An export and how far it is. */
  @Get('{exportId}/status')
  @Security('caller', ['experiment:read'])
  public async status(@Path() id: string, @Path() exportId: string): Promise<ExportStatus> {
    return exportStatus(this.ctx, this.caller, { experimentId: id, exportId });
  }

  /** Cancels an export that is not finished, which stays listed as cancelled; removes a finished one with its file. */
  @Delete('{exportId}')
  @Security('caller', ['experiment:read'])
  public async remove(@Path() id: string, @Path() exportId: string): Promise<null> {
    await removeExport(this.ctx, this.caller, { experimentId: id, exportId });
    return null;
  }
}
