import type { Request as HttpRequest } from 'express';
import { Get, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { sliced } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { OwnOrganization } from './organizations.model.ts';
import { listOwnOrganizations } from './organizations.queries.ts';

@Route('api/v1/users/me')
@Tags('Organizations')
export class OwnOrganizationsController extends ApiController {
  /** The organizations that you are in, your personal workspace too, by name. */
  @Get('organizations')
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() page: ListPage): Promise<OwnOrganization[]> {
    return sliced(request, this.response, await listOwnOrganizations(this.ctx.db, this.caller.userId), page);
  }
}
