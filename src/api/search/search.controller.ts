import { Get, Query, Route, Security, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { SearchResults } from './search.model.ts';
import { search } from './search.queries.ts';

@Route('api/v1/search')
@Tags('Search and places')
export class SearchController extends ApiController {
  /**
   * Finds experiments, protocols, macros and workbooks that you may read, best first. It goes by the words of their names and descriptions (the
   * beginning of a word is enough, small misspellings of names are forgiven), by their people and places, by language or family, and of workbooks by
   * what they use and who uses them. Archived experiments stay out.
   * @summary Search what you may read
   * @param query Words, 1 to 200 characters.
   * @param limit Finds at most, 1 to 32; 20 by default.
   * @minLength query 1
   * @maxLength query 200
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 32
   */
  @Get()
  @Security('caller')
  public async search(@Query() query: string, @Query() limit = 20): Promise<SearchResults> {
    const term = query.trim();
    if (term === '') throw errors.invalidInput().with({ problems: [{ path: '?query', message: 'must not be blank' }] });
    return { results: await search(this.ctx.db, this.caller.userId, term, limit) };
  }
}
