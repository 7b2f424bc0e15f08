import { Get, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { PlaceResult } from '../../places/places.ts';

@Route('api/v1/locations')
@Tags('Search and places')
export class PlacesController extends ApiController {
  /**
   * For everybody who is signed in. Answers places of this name in any language, with accents or without, then those whose name begins so, each by
   * population; further words say where (`Paris, Texas`). When the place server cannot be reached it refuses with PLACES_UNAVAILABLE (503).
   * @summary Search places by name
   * @param query Name of a place, 1 to 200 characters.
   * @param maxResults Places at most, 1 to 50; 10 by default.
   * @minLength query 1
   * @maxLength query 200
   * @minimum maxResults 1
   * @maximum maxResults 50
   */
  @Get('search')
  @Security('caller')
  public async searchPlaces(@Query() query: string, @Query() maxResults = 10): Promise<PlaceResult[]> {
    return this.ctx.places.search(query, Math.floor(maxResults));
  }

  /**
   * For everybody who is signed in. Answers one place, with the coordinates that were asked, or none in the open sea. When the place server cannot be
   * reached it refuses with PLACES_UNAVAILABLE (503).
   * @summary Find what is at a point
   * @param latitude Degrees north, -90 to 90.
   * @param longitude Degrees east, -180 to 180.
   * @minimum latitude -90
   * @maximum latitude 90
   * @minimum longitude -180
   * @maximum longitude 180
   */
  @Get('geocode')
  @Security('caller')
  public async geocodePlace(@Query() latitude: number, @Query() longitude: number): Promise<PlaceResult[]> {
    const found = await this.ctx.places.at(latitude, longitude);
    return found ? [found] : [];
  }
}
