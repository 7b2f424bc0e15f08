import { Body, Delete, Get, Patch, Path, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { columnChangeOf, orderColumnChange } from './columns.service.ts';
import type { ColumnChange, ColumnPatch } from './tables.model.ts';
import { removeTable } from './tables.service.ts';

@Route('api/v1/experiments/{id}/data/tables')
@Tags('Uploads')
export class TablesController extends ApiController {
  /**
   * Removes an upload table: its rows, its earlier versions and the files that were sent into it. Nobody finds the table from here on; reads that have begun may end.
   * Uploads that are still on their way into it end with the reason `table_deleted`. Its name is free again, and makes another table.
   */
  @Delete('{tableId}')
  @Security('caller', ['experiment:manage'])
  public async remove(@Path() id: string, @Path() tableId: string): Promise<null> {
    await removeTable(this.ctx, this.caller, id, tableId);
    return null;
  }

  /**
   * Gives a column of an upload table another name or type, in the background: GET on the change tells how far that is, and what became of the values. A value that does not fit the type is
   * kept as text in `<name>__text`, and returns from there when the type is changed again. Rows, ids and annotations stay, and earlier versions (`asOf`) have the column as it was. Later files
   * find the column by what they called it before. Charts that name the column keep its old name.
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
    this.setStatus(202);
    return orderColumnChange(this.ctx, this.caller, { experimentId: id, tableId, column: name }, body);
  }

  /** A change of a column: how far it is, and once it is completed its report. */
  @Get('{tableId}/column-changes/{changeId}')
  @Security('caller', ['experiment:contribute'])
  public async columnChange(@Path() id: string, @Path() tableId: string, @Path() changeId: string): Promise<ColumnChange> {
    return columnChangeOf(this.ctx, id, tableId, changeId);
  }
}
