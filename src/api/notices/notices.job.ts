import { refund, spend } from '../../auth/budgets.ts';
import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import type { Written } from '../../mail/letters/frame.ts';
import { joinDecision, joinRequest, writeOrganizationInvitation, writeResourceInvitation } from '../../mail/letters/notices.ts';
import { A_DAY_OF_TRIES, noteUnsent } from '../mail/mail.service.ts';
import { findAddress, findOrganizationInvitation, findRequest, findResourceInvitation } from './notices.queries.ts';
import { SEND_NOTICE, type Notice } from './notices.service.ts';

interface Outgoing {
  to: string;
  /** Who has it sent: a person, or what answers somebody's request. */
  byId: string;
  letter: Written;
}

/** Kinds of things that the console shows in its library. */
const IN_LIBRARY: ReadonlySet<string> = new Set(['macro', 'protocol', 'workbook']);

/** Looks up what a notice is about and who gets it; null when it is not owed any more. */
async function compose({ db, baseUrl }: Context, notice: Notice): Promise<Outgoing | null> {
  switch (notice.kind) {
    case 'organization-invitation': {
      const found = await findOrganizationInvitation(db, notice.invitationId);
      if (!found) return null;
      const letter = writeOrganizationInvitation({ ...found, url: `${baseUrl}/platform/account/invitations` });
      return { to: found.email, byId: found.byId, letter };
    }
    case 'resource-invitation': {
      const found = await findResourceInvitation(db, notice.invitationId);
      if (!found) return null;
      const room = IN_LIBRARY.has(found.kind) ? '/library' : '';
      const path = found.resourceId === null ? '' : `${room}/${found.kind}s/${found.resourceId}`;
      return { to: found.email, byId: found.byId, letter: writeResourceInvitation({ ...found, url: `${baseUrl}/platform${path}` }) };
    }
    case 'organization-join-request':
    case 'experiment-join-request': {
      const found = await findRequest(db, notice);
      const to = (await findAddress(db, notice.recipientId))?.email;
      if (found?.status !== 'pending' || to == null) return null;
      const url = `${baseUrl}/platform/${found.path}`;
      return { to, byId: found.requesterId, letter: joinRequest({ ...found, url }) };
    }
    case 'organization-join-decision':
    case 'experiment-join-decision': {
      const found = await findRequest(db, notice);
      if (!found || found.requesterEmail === null) return null;
      const url = `${baseUrl}/platform/${found.path}`;
      const approved = found.status === 'approved';
      const letter =
        notice.kind === 'experiment-join-decision' && approved
          ? writeResourceInvitation({
              by: 'Somebody who answers for it',
              kind: 'experiment',
              name: found.to,
              tier: 'viewer',
              url,
              isPending: false,
              isAsked: true,
            })
          : joinDecision({ to: found.to, approved, url });
      return { to: found.requesterEmail, byId: found.targetId, letter };
    }
  }
}

const DAY = 86_400;

/** Lists the budgets of a letter: of who has it sent to one address, and to all. A letter beyond is left out, for what it tells stands in the console. */
const budgetsOf = ({ byId, to }: Outgoing) => [
  { budget: { kind: 'notices-to-address', most: 10, seconds: DAY }, subject: `${byId} ${to}` },
  { budget: { kind: 'notices-of-sender', most: 500, seconds: DAY }, subject: byId },
];

async function send(ctx: Context, notice: Notice): Promise<void> {
  const outgoing = await compose(ctx, notice);
  if (!outgoing) return;
  const { secret } = ctx.config;
  for (const { budget, subject } of budgetsOf(outgoing))
    if ((await spend(ctx.db, secret, budget, subject)) !== null) {
      ctx.log.warn({ job: SEND_NOTICE, notice: notice.kind, by: outgoing.byId, budget: budget.kind }, 'a letter too many was left out');
      return;
    }
  try {
    await ctx.mailer.send({ to: outgoing.to, ...outgoing.letter });
  } catch (error) {
    for (const { budget, subject } of budgetsOf(outgoing)) await refund(ctx.db, secret, budget, subject);
    noteUnsent(ctx, error, { job: SEND_NOTICE, notice: notice.kind });
  }
}

/** Writes and sends one owed letter; a mail server that cannot be reached is tried again for a day. */
export const sendNoticeJob = (ctx: Context): JobHandler => ({
  name: SEND_NOTICE,
  concurrency: 2,
  retries: A_DAY_OF_TRIES,
  run: (payload) => send(ctx, payload as Notice),
});
