import { z } from 'zod';

/** Whether it names a host, and its user and password can be read. */
function isSmtpUrl(text: string): boolean {
  const { hostname, username, password } = new URL(text);
  try {
    return hostname !== '' && decodeURIComponent(username + password) !== undefined;
  } catch {
    return false;
  }
}

const FORM = 'it must be smtp://user:password@host:port';

/** The settings of letters, by name. */
export const MAIL_ENVIRONMENT = {
  /** `smtp://user:password@host:port` or `smtps://…`; unset: letters are files in DATA_DIR/outbox. */
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: FORM })
    .refine(isSmtpUrl, FORM)
    .optional(),
  /** Without an address a letter has no sender, and mail servers refuse it. */
  MAIL_FROM: z
    .string()
    .regex(/^([^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s,]+)$/, 'it must be an address, or a name and <an address>')
    .default('fieldlake <no-reply@localhost>'),
};
