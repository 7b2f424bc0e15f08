/** An address to ask. */
export interface NewsletterAddress {
  /**
   * Address to ask, at most 320 characters.
   * @maxLength 320
   */
  email: string;
}

/** That the wish was heard. */
export interface NewsletterAccepted {
  /** Always true: the answer does not tell whether the address was known. */
  success: boolean;
}

/** `pending`: a letter has asked and nobody has confirmed. `none`: there never was a subscription. */
export type NewsletterStatus = 'subscribed' | 'pending' | 'unsubscribed' | 'none';

/** State of a subscription. */
export interface NewsletterState {
  status: NewsletterStatus;
}

/** When you last looked at what is new. */
export interface WhatsNewSeen {
  /** When you last looked at what is new, in UTC; null if never. */
  lastSeenAt: Date | null;
}
