import type { Request as HttpRequest } from 'express';
import { Body, Get, Path, Post, Put, Query, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { listed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Location, NewLocation } from './experiments.model.ts';
import { countLocations, listLocations } from './locations.queries.ts';
import { addLocations, replaceLocations } from './locations.service.ts';

interface NewLocations {
  /** @maxItems 1000 */
  locations: NewLocation[];
}

interface LocationsReplacement {
  /**
   * Nothing changes when absent.
   * @maxItems 1000
   */
  locations?: NewLocation[];
}

@Route('api/v1/experiments/{id}/locations')
@Tags('Places')
export class LocationsController extends ApiController {
  /**
   * The places of an experiment, in the order in which they were added.
   * @isInt page
   * @minimum page 1
   * @isInt pageSize
   * @minimum pageSize 1
   * @maximum pageSize 1000
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(@Request() request: HttpRequest, @Path() id: string, @Query() page = 1, @Query() pageSize = 1000): Promise<Location[]> {
    const [rows, total] = await Promise.all([
      listLocations(this.ctx.db, id, { limit: pageSize, offset: (page - 1) * pageSize }),
      countLocations(this.ctx.db, id),
    ]);
    return listed(request, this.response, { rows, total }, { page, pageSize });
  }

  /** Adds places, and answers the new ones. */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async add(@Path() id: string, @Body() body: NewLocations): Promise<Location[]> {
    this.setStatus(201);
    return addLocations(this.ctx, this.caller, id, body.locations);
  }

  /** Replaces all places; an empty list clears them. */
  @Put()
  @Security('caller', ['experiment:manage'])
  public async replace(@Path() id: string, @Body() body: LocationsReplacement): Promise<Location[]> {
    if (body.locations === undefined) return listLocations(this.ctx.db, id, { limit: 1000, offset: 0 });
    return replaceLocations(this.ctx, this.caller, id, body.locations);
  }
}
