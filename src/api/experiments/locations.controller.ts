import { Body, Get, Path, Post, Put, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Location, NewLocation } from './experiments.model.ts';
import { countLocations, listLocations } from './locations.queries.ts';
import { addLocations, replaceLocations } from './locations.service.ts';

/** Places to add. */
interface NewLocations {
  /**
   * Places to add, at most 1,000; an experiment holds 1,000 altogether.
   * @maxItems 1000
   */
  locations: NewLocation[];
}

/** Places that take the place of all there are. */
interface LocationsReplacement {
  /**
   * All places of the experiment from now on, at most 1,000. Nothing changes when absent; an empty list clears them.
   * @maxItems 1000
   */
  locations?: NewLocation[];
}

@Route('api/v1/experiments/{id}/locations')
@Tags('Search and places')
export class LocationsController extends ApiController {
  /**
   * For everybody who may read the experiment. Answers the places in the order in which they were added. X-Total-Count says how many there are, and
   * Link leads to the other pages.
   * @summary List the places of an experiment
   * @param page Page to answer, counted from 1; 1 by default.
   * @param pageSize Rows of one page, 1 to 1,000; 1,000 by default.
   * @isInt page
   * @minimum page 1
   * @isInt pageSize
   * @minimum pageSize 1
   * @maximum pageSize 1000
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async listLocations(@Path() id: string, @Query() page = 1, @Query() pageSize = 1000): Promise<Location[]> {
    return this.answerPage(
      { page, pageSize },
      listLocations(this.ctx.db, id, readPageQuery({ page, pageSize })),
      countLocations(this.ctx.db, id),
    );
  }

  /**
   * Only for owners and admins of the experiment. Answers the new places. More than 1,000 places altogether refuse with TOO_MANY_LOCATIONS,
   * an archived one with EXPERIMENT_ARCHIVED (409).
   * @summary Add places to an experiment
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async addLocations(@Path() id: string, @Body() body: NewLocations): Promise<Location[]> {
    return addLocations(this.ctx, this.caller, id, body.locations);
  }

  /**
   * Only for owners and admins of the experiment. The places that it had are removed, and the new ones answered; an empty list clears them. An
   * archived experiment refuses with EXPERIMENT_ARCHIVED (409). With `If-Match`, a newer version of the experiment refuses with PRECONDITION_FAILED
   * (412).
   * @summary Replace all places of an experiment
   */
  @Put()
  @Security('caller', ['experiment:manage'])
  public async replaceLocations(@Path() id: string, @Body() body: LocationsReplacement): Promise<Location[]> {
    if (body.locations === undefined) return listLocations(this.ctx.db, id, { limit: 1000, offset: 0 });
    return replaceLocations(this.ctx, this.caller, this.readTarget({ id }), body.locations);
  }
}
