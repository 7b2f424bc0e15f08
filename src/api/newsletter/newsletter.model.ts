export interface NewsletterAddress {
  /** @maxLength 320 */
  email: string;
}

export interface NewsletterAccepted {
  /** Always true: the answer does not tell whether the address was known. */
  success: boolean;
}

export type NewsletterStatus = 'subscribed' | 'pending' | 'unsubscribed' | 'none';

export interface NewsletterState {
  status: NewsletterStatus;
}

export interface WhatsNewSeen {
  /** When you last looked at what is new; null if never. */
  lastSeenAt: Date | null;
}
