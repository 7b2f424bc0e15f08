import { Get, Middlewares, Path, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { requireTable, getTable } from '../../http/tables.ts';
import type { Lineage } from './lineage.model.ts';
import { loadLineage } from './lineage.service.ts';
import type { TableAsked } from '../resources/resources.model.ts';

@Route('api/v1/experiments/{id}/data/rows')
@Tags('Data')
export class LineageController extends ApiController {
  /**
   * For everybody who may read the table's rows; raw and uploaded rows need contribute access, else TABLE_DENIED (403). Answers the message, object
   * or file that the row came in, the versions of the pipeline and of the macro that made it, and when it arrived and was made. A row that is not
   * there answers ROWS_NOT_FOUND (404).
   * @summary Trace where a row came from
   * @param row The row's `id`, as reads show it.
   */
  @Get('{row}/lineage')
  @Security('caller', ['experiment:read'])
  @Middlewares(requireTable)
  public async getRowLineage(@Path('id') _id: string, @Path() row: string, @Queries() _query: TableAsked): Promise<Lineage> {
    return loadLineage(this.ctx, this.caller.userId, getTable(this.request), row.slice(0, 64));
  }
}
