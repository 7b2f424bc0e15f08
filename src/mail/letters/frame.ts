import escapeHtml from 'escape-html';

/** A letter without its address. */
export interface Written {
  subject: string;
  text: string;
  html: string;
  headers?: Readonly<Record<string, string>>;
}

/** What people wrote, such as names, begins no paragraph of its own. */
const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();

interface Parts {
  subject: string;
  /** Paragraphs, in plain text. */
  paragraphs: readonly string[];
  /** Shown large and alone, such as a code. */
  highlight?: string;
  /** The one thing to do. */
  action?: { label: string; url: string };
  /** Small print, such as why this was sent. */
  footer: string;
  /** Where the recipient unsubscribes from letters of this kind. */
  leaveUrl?: string;
}

/** Writes a letter twice, as text and as HTML; everything given is text and is escaped here, in one place. */
export function writeLetter({ subject, paragraphs: written, highlight, action, footer: small, leaveUrl }: Parts): Written {
  const paragraphs = written.map(oneLine);
  const footer = oneLine(small);
  const text = [
    ...paragraphs.slice(0, 1),
    ...(highlight === undefined ? [] : [`    ${highlight}`]),
    ...paragraphs.slice(1),
    ...(action === undefined ? [] : [`${action.label}: ${action.url}`]),
    `-- \n${footer}${leaveUrl === undefined ? '' : `\nUnsubscribe: ${leaveUrl}`}`,
  ].join('\n\n');
  const paragraph = (words: string) => `<p style="margin:0 0 16px">${escapeHtml(words)}</p>`;
  const body = [
    ...paragraphs.slice(0, 1).map(paragraph),
    ...(highlight === undefined
      ? []
      : [`<p style="margin:0 0 16px;font:600 32px/1.2 monospace;letter-spacing:6px">${escapeHtml(highlight)}</p>`]),
    ...paragraphs.slice(1).map(paragraph),
    ...(action === undefined
      ? []
      : [
          `<p style="margin:0 0 16px"><a href="${escapeHtml(action.url)}" style="background:#1c5d3a;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">${escapeHtml(action.label)}</a></p>`,
        ]),
    `<p style="margin:24px 0 0;color:#555;font-size:13px">${escapeHtml(footer)}${leaveUrl === undefined ? '' : ` <a href="${escapeHtml(leaveUrl)}" style="color:#555">Unsubscribe</a>`}</p>`,
  ].join('\n');
  return {
    subject: oneLine(subject).slice(0, 200),
    text: `${text}\n`,
    html: `<!doctype html><html lang="en"><body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#1a1a1a;background:#fff"><div style="max-width:560px">${body}</div></body></html>`,
  };
}
