import type { Request as HttpRequest } from 'express';
import { Get, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { AUDIT_ACTIONS } from '../../auth/audit.ts';
import { listed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { AuditEntry } from './audit.model.ts';
import { countOwnAudit, listOwnAudit } from './audit.queries.ts';

interface AuditQuery {
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

// who signs in and with what; what is done to resources is read where they are
const OWN_ACTIONS = AUDIT_ACTIONS.filter((action) => /^(user|session|api-key|passkey|provider)\./.test(action));

@Route('api/v1/users/me/audit')
@Tags('Account')
export class AuditController extends ApiController {
  /** Sign-ins to your account, refused ones included, and every change of its sessions, keys, passkeys and providers; newest first. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: AuditQuery): Promise<AuditEntry[]> {
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? 100 };
    const [rows, total] = await Promise.all([
      listOwnAudit(this.ctx.db, this.caller.userId, OWN_ACTIONS, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countOwnAudit(this.ctx.db, this.caller.userId, OWN_ACTIONS),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }
}
