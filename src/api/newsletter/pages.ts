import { html, type Html } from '../../http/pages.ts';
import type { NewsletterState } from './newsletter.model.ts';

const SAID: Record<NewsletterState['status'], { title: string; sentence: string }> = {
  subscribed: { title: 'You are subscribed', sentence: 'The next newsletter will come to your address.' },
  unsubscribed: { title: 'You are not subscribed', sentence: 'No newsletter comes to your address.' },
  pending: { title: 'Not confirmed yet', sentence: 'Your address has not been confirmed.' },
  none: { title: 'You are not subscribed', sentence: 'No newsletter comes to your address.' },
};

/** The page that answers a browser's form. */
export const statePage = ({ status }: NewsletterState) => ({ title: SAID[status].title, body: html`<p>${SAID[status].sentence}</p>` });

/** One button that posts the token: whatever only follows links presses none. */
export const buttonBody = (act: 'confirm' | 'unsubscribe', token: string): Html =>
  html`<p>${act === 'confirm' ? 'Do you want the fieldlake newsletter?' : 'Do you want no more newsletters?'}</p>
    <form method="post" action="/api/v1/newsletter/${act}?token=${encodeURIComponent(token)}">
      <button type="submit">${act === 'confirm' ? 'Yes, subscribe me' : 'Unsubscribe me'}</button>
    </form>`;
