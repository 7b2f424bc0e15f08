import { Body, Delete, Get, Patch, Path, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { loadColumnChange, orderColumnChange } from './columns.service.ts';
import type { ColumnChange, ColumnPatch } from './tables.model.ts';
import { removeTable } from './tables.service.ts';

@Route('api/v1/experiments/{id}/data/tables')
@Tags('Uploads and exports')
export class TablesController extends ApiController {
  /**
   * Only for owners and admins of the experiment. Removes its rows, its earlier versions and the files that were sent into it. Nobody finds the table
   * from here on; reads that have begun may end. Uploads that are still on their way into it end with the reason `table_deleted`. Its name is free
   * again, and makes another table. A table that the service makes itself refuses with TABLE_NOT_UPLOADED (400), an archived experiment with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Remove an upload table
   */
  @Delete('{tableId}')
  @Security('caller', ['experiment:manage'])
  public async deleteTable(@Path() id: string, @Path() tableId: string): Promise<null> {
    await removeTable(this.ctx, this.caller, id, tableId);
    return null;
  }

  /**
   * Only for owners and admins of the experiment. Works in the background: GET on the change tells how far that is, and what became of the values. A
   * value that does not fit the type is kept as text in `<name>__text`, and returns from there when the type is changed again. Rows, ids and
   * annotations stay, and earlier versions (`asOf`) have the column as it was. Later files find the column by what they called it before. Charts that
   * name the column keep its old name. Refused with TABLE_NOT_UPLOADED or COLUMN_FIXED (400), COLUMN_NOT_FOUND (404), COLUMN_NAME_TAKEN,
   * COLUMN_CHANGE_RUNNING or EXPERIMENT_ARCHIVED (409).
   * @summary Rename or retype a column
   * @param name What the column is called now.
   */
  @Patch('{tableId}/columns/{name}')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(202, 'Accepted')
  public async changeColumn(
    @Path() id: string,
    @Path() tableId: string,
    @Path() name: string,
    @Body() body: ColumnPatch,
  ): Promise<ColumnChange> {
    return orderColumnChange(this.ctx, this.caller, { experimentId: id, tableId, column: name }, body);
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Answers how far the change is, and once
   * it is completed its report.
   * @summary Follow a change of a column
   * @param changeId Change of a column, by its UUID.
   */
  @Get('{tableId}/column-changes/{changeId}')
  @Security('caller', ['experiment:contribute'])
  public async getColumnChange(@Path() id: string, @Path() tableId: string, @Path() changeId: string): Promise<ColumnChange> {
    return loadColumnChange(this.ctx, id, tableId, changeId);
  }
}
