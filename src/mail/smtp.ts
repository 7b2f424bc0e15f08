import { createTransport } from 'nodemailer';
import { errors } from '../errors.ts';
import type { Mailer } from './mailer.ts';

/** A mailer over SMTP. `url` is `smtp://user:password@host:port` or `smtps://…`; its password never reaches a log. */
export function openSmtp({ url, from }: { url: string; from: string }): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    secure: protocol === 'smtps:',
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    pool: true,
    maxConnections: 2,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  });
  return {
    destination: `smtp server ${hostname}`,
    send: async (letter) => {
      try {
        await transport.sendMail({ ...letter, from, disableFileAccess: true, disableUrlAccess: true });
      } catch (error) {
        const { responseCode = 0, command } = error as { responseCode?: number; command?: string };
        // what a server says against our password or sender is no word on the letter
        const isRefused = responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
        const answer = isRefused ? errors.mailRefused() : errors.mailUnavailable();
        throw answer.with({ cause: error });
      }
    },
    check: async () => {
      await transport.verify();
    },
    forget: () => Promise.resolve(),
    close: async () => transport.close(),
  };
}
