import { Get, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { PlaceResult } from './places.model.ts';

@Route('api/v1/locations')
@Tags('Places')
export class PlacesController extends ApiController {
  /**
   * Places of this name in any language, with accents or without, then those whose name begins so, each by population; further words say where
   * (`Paris, Texas`).
   * @minLength query 1
   * @maxLength query 200
   * @minimum maxResults 1
   * @maximum maxResults 50
   */
  @Get('search')
  @Security('caller')
  public async search(@Query() query: string, @Query() maxResults = 10): Promise<PlaceResult[]> {
    return this.ctx.places.search(query, Math.floor(maxResults));
  }

  /**
   * What is at a point: one result, with the coordinates that were asked, or none in the open sea.
   * @minimum latitude -90
   * @maximum latitude 90
   * @minimum longitude -180
   * @maximum longitude 180
   */
  @Get('geocode')
  @Security('caller')
  public async geocode(@Query() latitude: number, @Query() longitude: number): Promise<PlaceResult[]> {
    const found = await this.ctx.places.at(latitude, longitude);
    return found ? [found] : [];
  }
}
