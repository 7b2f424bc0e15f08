import { Body, Delete, Patch, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { AnnotationPatch, AnnotationRemoval, RowAnnotation, RowsAffected, RowsAnnotation } from './annotations.model.ts';
import { annotateRows, changeAnnotation, removeAnnotation, removeAnnotations } from './annotations.service.ts';

@Route('api/v1/experiments/{id}/data/annotations')
@Tags('Annotations')
export class AnnotationsController extends ApiController {
  /** Annotates a row with a comment or a flag. The `annotations` column of the row shows it at once. */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: RowAnnotation): Promise<RowsAffected> {
    this.setStatus(201);
    return annotateRows(this.ctx, this.caller, id, { tableName: body.tableName, rowIds: [body.rowId], annotation: body.annotation });
  }

  /** Annotates rows of one table, all of them or, when one is unknown, none. */
  @Post('bulk')
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async createMany(@Path() id: string, @Body() body: RowsAnnotation): Promise<RowsAffected> {
    this.setStatus(201);
    return annotateRows(this.ctx, this.caller, id, body);
  }

  /** Changes what an annotation says. Another person's annotation needs the manage action on the experiment. */
  @Patch('{annotationId}')
  @Security('caller', ['experiment:contribute'])
  public async update(@Path() id: string, @Path() annotationId: string, @Body() body: AnnotationPatch): Promise<RowsAffected> {
    return changeAnnotation(this.ctx, this.caller, { experimentId: id, annotationId }, body.content);
  }

  /** Removes an annotation. Another person's needs the manage action on the experiment. */
  @Delete('{annotationId}')
  @Security('caller', ['experiment:contribute'])
  public async remove(@Path() id: string, @Path() annotationId: string): Promise<RowsAffected> {
    return removeAnnotation(this.ctx, this.caller, { experimentId: id, annotationId });
  }

  /** Removes annotations of one type from rows: your own, or everybody's with the manage action. Counts those that it removed. */
  @Post('bulk-delete')
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(200, 'OK')
  public async removeMany(@Path() id: string, @Body() body: AnnotationRemoval): Promise<RowsAffected> {
    return removeAnnotations(this.ctx, this.caller, id, body);
  }
}
