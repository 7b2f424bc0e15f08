import { Body, Delete, Patch, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { AnnotationPatch, AnnotationRemoval, RowAnnotation, RowsAffected, RowsAnnotation } from './annotations.model.ts';
import { annotateRows, changeAnnotation, removeAnnotation, removeAnnotations } from './annotations.service.ts';

@Route('api/v1/experiments/{id}/data/annotations')
@Tags('Annotations and metadata')
export class AnnotationsController extends ApiController {
  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Adds a comment or a flag, which the
   * `annotations` column of the row shows at once. A row that is not there answers ROWS_NOT_FOUND (404), an archived experiment EXPERIMENT_ARCHIVED
   * (409); rows of `device` cannot be annotated.
   * @summary Annotate a row
   */
  @Post()
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async createAnnotation(@Path() id: string, @Body() body: RowAnnotation): Promise<RowsAffected> {
    return annotateRows(this.ctx, this.caller, id, { tableName: body.tableName, rowIds: [body.rowId], annotation: body.annotation });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Every row gets an annotation of its own.
   * When one of the rows is unknown, none is annotated and ROWS_NOT_FOUND (404) names it. An archived experiment refuses with EXPERIMENT_ARCHIVED
   * (409).
   * @summary Annotate many rows of one table
   */
  @Post('bulk')
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(201, 'Created')
  public async createAnnotations(@Path() id: string, @Body() body: RowsAnnotation): Promise<RowsAffected> {
    return annotateRows(this.ctx, this.caller, id, body);
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Changes what your annotation says; its
   * type stays. Another person's annotation needs manage access, else ANNOTATION_NOT_YOURS (403). An archived experiment refuses with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Change an annotation
   */
  @Patch('{annotationId}')
  @Security('caller', ['experiment:contribute'])
  public async updateAnnotation(@Path() id: string, @Path() annotationId: string, @Body() body: AnnotationPatch): Promise<RowsAffected> {
    return changeAnnotation(this.ctx, this.caller, { experimentId: id, annotationId }, body.content);
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Removes your annotation. Another
   * person's needs manage access, else ANNOTATION_NOT_YOURS (403). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Remove an annotation
   */
  @Delete('{annotationId}')
  @Security('caller', ['experiment:contribute'])
  public async deleteAnnotation(@Path() id: string, @Path() annotationId: string): Promise<RowsAffected> {
    return removeAnnotation(this.ctx, this.caller, { experimentId: id, annotationId });
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. Removes annotations of one type from
   * rows: your own, or everybody's when you manage the experiment. `rowsAffected` counts those that it removed. When one of the rows is unknown,
   * nothing is removed and ROWS_NOT_FOUND (404) names it. An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Remove annotations from many rows
   */
  @Post('bulk-delete')
  @Security('caller', ['experiment:contribute'])
  @SuccessResponse(200, 'OK')
  public async deleteAnnotations(@Path() id: string, @Body() body: AnnotationRemoval): Promise<RowsAffected> {
    return removeAnnotations(this.ctx, this.caller, id, body);
  }
}
