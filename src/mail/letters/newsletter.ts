import { writeLetter, type Written } from './frame.ts';

export interface NewsletterConfirmationData {
  url: string;
  days: number;
  /** Page with a button to unsubscribe. */
  leaveUrl: string;
  /** Mail programs post to it to unsubscribe. */
  oneClickUrl: string;
}

/** The letter that asks whether the address wants the newsletter. */
export const writeNewsletterConfirmation = ({ url, days, leaveUrl, oneClickUrl }: NewsletterConfirmationData): Written => ({
  ...writeLetter({
    subject: 'Confirm your subscription to the fieldlake newsletter',
    paragraphs: [
      'Somebody entered this address to receive the fieldlake newsletter.',
      `Confirm it within ${days} days, and you will get the next one.`,
    ],
    action: { label: 'Confirm', url },
    footer: 'If that was not you, there is nothing to do: without a confirmation no newsletter is sent.',
    leaveUrl,
  }),
  headers: { 'List-Unsubscribe': `<${oneClickUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
});
