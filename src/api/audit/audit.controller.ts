import { Get, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { AUDIT_ACTIONS } from '../../auth/audit.ts';
import { readPageQuery } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { PageQuery } from '../resources/resources.model.ts';
import type { AuditEntry } from './audit.model.ts';
import { countOwnAudit, listOwnAudit } from './audit.queries.ts';

// who signs in and with what; what is done to resources is read where they are
const OWN_ACTIONS = AUDIT_ACTIONS.filter((action) => /^(user|session|api-key|passkey|provider)\./.test(action));

@Route('api/v1/users/me/audit')
@Tags('Account')
export class AuditController extends ApiController {
  /**
   * For yourself. Answers sign-ins to your account, refused ones included, and every change of its sessions, keys, passkeys and providers; newest
   * first.
   * @summary Read the audit log of your account
   */
  @Get()
  @Security('caller')
  public async listMyAuditEvents(@Queries() query: PageQuery): Promise<AuditEntry[]> {
    const page = readPageQuery(query);
    return this.answerPage(
      page,
      listOwnAudit(this.ctx.db, this.caller.userId, OWN_ACTIONS, page),
      countOwnAudit(this.ctx.db, this.caller.userId, OWN_ACTIONS),
    );
  }
}
