import type { Response } from 'express';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A piece of HTML that is ready to be sent. Only `html` makes one, so that text cannot pass for it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | null | readonly (Html | string)[];

const render = (piece: Piece): string => {
  if (piece === null) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map((part) => render(part)).join('');
  return String(piece).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
};

/** html`<p>${text}</p>`: everything that is put in is escaped, but other pieces of HTML. */
export const html = (strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html =>
  new Html(strings.reduce((text, part, index) => text + render(pieces[index - 1] ?? null) + part));

// no inline script, no inline style, nothing from elsewhere but pictures
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https: data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

interface Page {
  title: string;
  /** File in web/, if the page has one. */
  script?: string;
  body: Html;
  signedIn?: boolean;
}

/** Sends a page. */
export function sendPage(response: Response, { title, script, body, signedIn = false }: Page, status = 200): void {
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('Cache-Control', 'no-store');
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title} · fieldlake</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/platform/assets/platform.css" />
        ${script === undefined ? null : html`<script type="module" src="/platform/assets/${script}"></script>`}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="/platform/account">fieldlake</a>${
            signedIn
              ? html`<nav aria-label="Account">
                  <a href="/platform/account">Account</a> <a href="/platform/account/invitations">Invitations</a>
                  <button type="button" class="plain" id="sign-out">Sign out</button>
                </nav>`
              : null
          }
        </header>
        <main id="main" tabindex="-1">
          <h1>${title}</h1>
          <p id="notice" role="status" aria-live="polite"></p>
          <p id="problem" role="alert"></p>
          ${body}
        </main>
      </body>
    </html> `;
  response.status(status).type('html').send(page.text);
}

const REASONS: Readonly<Record<string, string>> = {
  state_mismatch: 'This sign-in was not begun in this browser, took longer than five minutes, or was ended already.',
  access_denied: 'You did not allow the provider to tell us who you are.',
  provider_failed: 'The provider did not confirm who you are.',
  email_not_verified: 'The provider has not verified your email address. Verify it there, or sign in by a code instead.',
  account_not_linked:
    'Your account here has not proven that address yet. Sign in by a code first, then link the provider on your account page.',
  account_already_linked_to_different_user: 'This provider account is linked to another account here.',
};

/** The page for a sign-in at a provider that failed. It repeats nothing of what it is given. */
export function failurePage(response: Response, code: string): void {
  const reason = REASONS[code] ?? 'Something went wrong at the provider.';
  sendPage(response, {
    title: 'You are not signed in',
    body: html`<p>${reason}</p>
      <p><a class="button" href="/platform/sign-in">Back to signing in</a></p>`,
  });
}
