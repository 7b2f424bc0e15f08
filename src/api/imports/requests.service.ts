import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { refuseBody } from '../input/input.service.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import type { NewTransferRequest, TransferRequest } from './imports.model.ts';
import { countOpenRequests, findStanding, insertTransferRequest, listPeople, lockRequestsOf } from './imports.queries.ts';

export { listOpenRequests } from './imports.queries.ts';

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw refuseBody([{ path: '/projectUrlOld', message: 'must be an absolute http or https URL' }]);
  return text;
}

/** Requests of one person that may be open. Each has a letter sent, behind which the letters of others wait. */
const MOST_OPEN = 100;

/** Asks for a project. Errors: no address to write to (400); asked for already, or for too many (409). */
export const requestTransfer = (ctx: Context, caller: Caller, body: NewTransferRequest): Promise<TransferRequest> =>
  ctx.db.transaction(async (tx) => {
    const projectIdOld = body.projectIdOld.trim();
    if (projectIdOld === '') throw refuseBody([{ path: '/projectIdOld', message: 'must not be blank' }]);
    const projectUrlOld = checkedUrl(body.projectUrlOld);
    const [person] = await listPeople(tx, [caller.userId]);
    if (!person?.email) throw errors.noAddress();
    await lockRequestsOf(tx, caller.userId);
    const standing = await findStanding(tx, caller.userId, projectIdOld);
    if (standing) throw errors.transferAlreadyRequested(standing.status);
    if ((await countOpenRequests(tx, caller.userId)) >= MOST_OPEN) throw errors.tooManyTransferRequests(MOST_OPEN);
    const made = await insertTransferRequest(tx, {
      id: randomUUIDv7(),
      userId: caller.userId,
      userEmail: person.email,
      sourcePlatform: ctx.config.transferSource,
      projectIdOld,
      projectUrlOld,
    });
    if (!made) throw errors.conflict();
    await audit(tx, caller, { action: 'transfer-request.created', details: { requestId: made.requestId, projectIdOld } });
    await enqueueLetter(ctx, tx, {
      to: person.email,
      letter: 'transfer-requested',
      data: { firstName: person.firstName, platform: made.sourcePlatform, project: projectIdOld },
    });
    return caller.created(tx, made);
  });
