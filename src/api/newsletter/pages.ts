import type { Request } from 'express';
import { html, sendPage, type Html } from '../../http/pages.ts';
import type { NewsletterState } from './newsletter.model.ts';

const SAID: Record<NewsletterState['status'], { title: string; sentence: string }> = {
  subscribed: { title: 'You are subscribed', sentence: 'The next newsletter will come to your address.' },
  unsubscribed: { title: 'You are not subscribed', sentence: 'No newsletter comes to your address.' },
  pending: { title: 'Not confirmed yet', sentence: 'Your address has not been confirmed.' },
  none: { title: 'You are not subscribed', sentence: 'No newsletter comes to your address.' },
};

/** Answers a browser's form with a page, and everybody else with the state itself. */
export function shownState(request: Request, state: NewsletterState): NewsletterState {
  if (request.accepts(['json', 'html']) === 'html' && request.res) {
    const { title, sentence } = SAID[state.status];
    sendPage(request.res, { title, body: html`<p>${sentence}</p>` });
  }
  return state;
}

/** One button that posts the token: whatever only follows links presses none. */
export const buttonBody = (act: 'confirm' | 'unsubscribe', token: string): Html =>
  html`<p>${act === 'confirm' ? 'Do you want the fieldlake newsletter?' : 'Do you want no more newsletters?'}</p>
    <form method="post" action="/api/v1/newsletter/${act}?token=${encodeURIComponent(token)}">
      <button type="submit">${act === 'confirm' ? 'Yes, subscribe me' : 'Unsubscribe me'}</button>
    </form>`;
