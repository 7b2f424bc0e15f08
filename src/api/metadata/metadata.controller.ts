import { Body, Delete, Get, Path, Post, Put, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { setListHeaders, readPageQuery, addEtag } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { loadNaming } from '../experiments/pseudonym.service.ts';
import type { MetadataRecord, MetadataReplacement, NewMetadataRecord } from './metadata.model.ts';
import { findRecord, listRecords, measureRecords } from './metadata.queries.ts';
import { changeMetadata, createMetadata, removeMetadata, addDuplicates } from './metadata.service.ts';

@Route('api/v1/experiments/{id}/metadata')
@Tags('Annotations and metadata')
export class MetadataController extends ApiController {
  /**
   * For everybody who may read the experiment. Newest first. X-Total-Count says how many there are, and Link leads to the other pages. In an
   * anonymised experiment a pseudonym names who made one.
   * @summary List the metadata tables of an experiment
   * @param page Page to answer, counted from 1; 1 by default.
   * @param pageSize Rows of one page, 1 to 100; 100 by default.
   * @isInt page
   * @minimum page 1
   * @isInt pageSize
   * @minimum pageSize 1
   * @maximum pageSize 100
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async listMetadata(@Path() id: string, @Query() page = 1, @Query() pageSize = 100): Promise<MetadataRecord[]> {
    const [named, rows, { count }] = await Promise.all([
      loadNaming(this.ctx, this.caller, id),
      listRecords(this.ctx.db, id, readPageQuery({ page, pageSize })),
      measureRecords(this.ctx.db, id),
    ]);
    return setListHeaders(this.response, { rows: rows.map((row) => named(addDuplicates(row))), total: count }, { page, pageSize });
  }

  /**
   * Only for owners and admins of the experiment. Its columns join the measurements that answer a question with one of its identifiers. Of tables
   * with one column name the newer value counts; a name that the measurements' table has besides is `metadata_<name>` there. Column names that every
   * measurement has refuse with INVALID_INPUT (400); more than 100 tables, 50,000,000 characters, or 5,000,000 cells together (joined rows by
   * columns) with METADATA_FULL (409). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Add a metadata table
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async createMetadata(@Path() id: string, @Body() body: NewMetadataRecord): Promise<MetadataRecord> {
    const made = await createMetadata(this.ctx, this.caller, id, body);
    return addEtag(this.response, addDuplicates(made), made.version);
  }

  /**
   * For everybody who may read the experiment. Its ETag is what a change sends as `If-Match`. In an anonymised experiment a pseudonym names who made it.
   * @summary Read one metadata table
   */
  @Get('{metadataId}')
  @Security('caller', ['experiment:read'])
  public async getMetadata(@Path() id: string, @Path() metadataId: string): Promise<MetadataRecord> {
    const found = (await findRecord(this.ctx.db, id, metadataId)) ?? refuse(errors.metadataNotFound());
    const named = await loadNaming(this.ctx, this.caller, id);
    return addEtag(this.response, named(addDuplicates(found)), found.version);
  }

  /**
   * Only for owners and admins of the experiment. Who made it, and when, stay. The same is checked as of a new table. With `If-Match`, a newer
   * version refuses with PRECONDITION_FAILED (412). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Replace a metadata table
   */
  @Put('{metadataId}')
  @Security('caller', ['experiment:manage'])
  public async replaceMetadata(@Path() id: string, @Path() metadataId: string, @Body() body: MetadataReplacement): Promise<MetadataRecord> {
    const target = this.readTarget({ experimentId: id, id: metadataId });
    const changed = await changeMetadata(this.ctx, this.caller, target, body);
    return addEtag(this.response, addDuplicates(changed), changed.version);
  }

  /**
   * Only for owners and admins of the experiment. Its columns leave the measurements. With `If-Match`, a newer version refuses with
   * PRECONDITION_FAILED (412). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Remove a metadata table
   */
  @Delete('{metadataId}')
  @Security('caller', ['experiment:manage'])
  public async deleteMetadata(@Path() id: string, @Path() metadataId: string): Promise<null> {
    const target = this.readTarget({ experimentId: id, id: metadataId });
    await removeMetadata(this.ctx, this.caller, target);
    return null;
  }
}
