import { writeLetter, type Written } from './frame.ts';

interface Person {
  /** Who did it, as they are shown. */
  by: string;
}

export interface OrganizationInvitationData extends Person {
  organization: string;
  role: string;
  url: string;
}

export const writeOrganizationInvitation = ({ by, organization, role, url }: OrganizationInvitationData): Written =>
  writeLetter({
    subject: `You've been invited to join ${organization}`,
    paragraphs: [
      `${by} invites you to join ${organization} on fieldlake, as ${role === 'member' ? 'a member' : `an ${role}`}.`,
      'The invitation lasts 48 hours. It is accepted on the page of your invitations, once you have signed in with this address.',
    ],
    action: { label: 'See your invitations', url },
    footer: 'You receive this because somebody invited this address. If you do not want to join, there is nothing to do.',
  });

export interface ResourceInvitationData extends Person {
  /** `experiment`, `device`; `platform` for the service itself. */
  kind: string;
  name: string | null;
  tier: string;
  url: string;
  /** The access begins once somebody signs in with the address. */
  isPending: boolean;
  /** It answers a request to take part. */
  isAsked?: boolean;
}

const describeTier = (tier: string, kind: string) => {
  if (tier === 'admin') return 'a collaborator who can edit';
  return kind === 'experiment' ? 'a contributor who can view and add data' : 'a viewer who can see it';
};

/** Writes that something was shared with an address. */
export const writeResourceInvitation = ({ by, kind, name, tier, url, isPending, isAsked = false }: ResourceInvitationData): Written =>
  kind === 'platform'
    ? writeLetter({
        subject: 'You are invited to fieldlake',
        paragraphs: [
          `${by} invites you to work on field experiments with them on fieldlake.`,
          'Sign in with this address to begin. The invitation lasts 30 days.',
        ],
        action: { label: 'Begin', url },
        footer: 'You receive this because somebody invited this address. If you do not want to join, there is nothing to do.',
      })
    : writeLetter({
        subject: `Added to ${kind} on the fieldlake Platform`,
        paragraphs: [
          `${by} has added you to the ${kind} "${name ?? ''}", as ${describeTier(tier, kind)}.`,
          `Sign in with this address${isPending ? ' within 30 days' : ''}, and you will find it there.`,
        ],
        action: { label: `Open the ${kind}`, url },
        footer: isAsked
          ? `You receive this because you asked to take part in "${name ?? ''}".`
          : 'You receive this because somebody shared something with this address. If you do not want it, there is nothing to do.',
      });

export interface JoinRequestData extends Person {
  /** What they ask to join. */
  to: string;
  message: string | null;
  url: string;
}

/** Writes that somebody asks to join. */
export const joinRequest = ({ by, to, message, url }: JoinRequestData): Written =>
  writeLetter({
    subject: `New request to join ${to} on fieldlake`,
    paragraphs: [`${by} asks to join ${to}.`, ...(message === null ? [] : [`They write: ${message}`])],
    action: { label: 'See the request', url },
    footer: `You receive this because you answer for ${to}.`,
  });

export interface JoinDecisionData {
  to: string;
  approved: boolean;
  url: string;
}

/** Writes what became of a request to join. */
export const joinDecision = ({ to, approved, url }: JoinDecisionData): Written =>
  writeLetter({
    subject: approved ? `You have joined ${to} on fieldlake` : `Update on your request to join ${to}`,
    paragraphs: [approved ? `Your request to join ${to} has been approved.` : `Your request to join ${to} has not been approved.`],
    ...(approved ? { action: { label: `Open ${to}`, url } } : {}),
    footer: `You receive this because you asked to join ${to}.`,
  });
