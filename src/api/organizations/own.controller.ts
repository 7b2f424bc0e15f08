import { Get, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { sliceList } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { OwnOrganization } from './organizations.model.ts';
import { listOwnOrganizations } from './organizations.queries.ts';

@Route('api/v1/users/me')
@Tags('Organizations')
export class OwnOrganizationsController extends ApiController {
  /**
   * For everybody who is signed in. Answers them by name, your personal workspace too.
   * @summary List the organizations you are in
   */
  @Get('organizations')
  @Security('caller')
  public async listMyOrganizations(@Queries() page: ListPage): Promise<OwnOrganization[]> {
    return sliceList(this.response, await listOwnOrganizations(this.ctx.db, this.caller.userId), page);
  }
}
