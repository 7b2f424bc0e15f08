import { Delete, Path, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
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
}
