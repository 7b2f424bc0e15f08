import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Path, Post, Put, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { expectedVersions, listed, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { namingOf } from '../experiments/pseudonym.service.ts';
import type { MetadataRecord, MetadataReplacement, NewMetadataRecord } from './metadata.model.ts';
import { listRecords, measureRecords } from './metadata.queries.ts';
import { changeMetadata, createMetadata, removeMetadata, shownRecord } from './metadata.service.ts';

@Route('api/v1/experiments/{id}/metadata')
@Tags('Metadata')
export class MetadataController extends ApiController {
  /**
   * The metadata tables of an experiment, newest first.
   * @isInt page
   * @minimum page 1
   * @isInt pageSize
   * @minimum pageSize 1
   * @maximum pageSize 100
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Query() page = 1,
    @Query() pageSize = 100,
  ): Promise<MetadataRecord[]> {
    const [named, rows, { count }] = await Promise.all([
      namingOf(this.ctx, this.caller, id),
      listRecords(this.ctx.db, id, { limit: pageSize, offset: (page - 1) * pageSize }),
      measureRecords(this.ctx.db, id),
    ]);
    return listed(request, this.response, { rows: rows.map((row) => named(shownRecord(row))), total: count }, { page, pageSize });
  }

  /** Adds a table whose columns join the measurements that answer a question with one of its identifiers. */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: NewMetadataRecord): Promise<MetadataRecord> {
    this.setStatus(201);
    const made = await createMetadata(this.ctx, this.caller, id, body);
    return tagged(this.response, shownRecord(made), made.version);
  }

  /** Replaces a table. Who made it, and when, stay. */
  @Put('{metadataId}')
  @Security('caller', ['experiment:manage'])
  public async replace(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path() metadataId: string,
    @Body() body: MetadataReplacement,
  ): Promise<MetadataRecord> {
    const target = { experimentId: id, id: metadataId, versions: expectedVersions(request) };
    const changed = await changeMetadata(this.ctx, this.caller, target, body);
    return tagged(this.response, shownRecord(changed), changed.version);
  }

  /** Removes a table; its columns leave the measurements. */
  @Delete('{metadataId}')
  @Security('caller', ['experiment:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string, @Path() metadataId: string): Promise<null> {
    await removeMetadata(this.ctx, this.caller, id, metadataId, expectedVersions(request));
    return null;
  }
}
