import type { Request as HttpRequest } from 'express';
import { Get, Middlewares, Path, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { requireTable, tableOf } from '../../http/tables.ts';
import type { Lineage } from './lineage.model.ts';
import { lineageOf } from './lineage.service.ts';

interface LineageQuery {
  /**
   * `raw_data`, `device`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
}

@Route('api/v1/experiments/{id}/data/rows')
@Tags('Data')
export class LineageController extends ApiController {
  /**
   * Where a row came from: the message, object or file, the versions of the pipeline and of the macro that made it, and when it arrived and was made.
   * @param row The row's `id`.
   */
  @Get('{row}/lineage')
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  public async lineage(
    @Request() request: HttpRequest,
    @Path('id') _id: string,
    @Path() row: string,
    @Queries() _query: LineageQuery,
  ): Promise<Lineage> {
    return lineageOf(this.ctx, this.caller.userId, tableOf(request), row.slice(0, 64));
  }
}
