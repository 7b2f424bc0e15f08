import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { afterAll, describe, expect, test } from 'vitest';
import { enqueueLetter } from '../../src/api/mail/mail.service.ts';
import { sql } from '../../src/database/sql.ts';
import { writeLetter } from '../../src/mail/letters/frame.ts';
import { writeSignInCode } from '../../src/mail/letters/sign-in-code.ts';
import { openOutbox } from '../../src/mail/outbox.ts';
import { openSmtp } from '../../src/mail/smtp.ts';
import { codeIn, lettersTo, nextLetter } from '../support/outbox.ts';
import { startTestServer } from '../support/server.ts';

const cleanups: (() => Promise<unknown> | undefined)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A mail server on loopback that takes what it is told to take. */
async function mailServer(answer: () => Error | null = () => null) {
  const letters: { to: string[]; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, callback) =>
      password === 'right' ? callback(null, { user: username }) : callback(refusal(535)),
    onMailFrom: ({ address }, _session, callback) => callback(address === 'nobody@example.org' ? refusal(550) : null),
    onRcptTo: (_address, _session, callback) => callback(answer()),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        letters.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise<void>((resolve) => server.close(resolve)));
  return { letters, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

const refusal = (code: number) => Object.assign(new Error('no'), { responseCode: code });
const letter = { to: 'somebody@example.com', subject: 'Hello', text: 'Hello there\n', html: '<p>Hello there</p>' };

describe('letters', () => {
  test('print what people wrote on the line of its sentence', () => {
    const name = 'Trial"\r\n\r\nYour account is locked:\u2028https://example.org\u0085\u0007';
    const { text } = writeLetter({ subject: 'Added', paragraphs: [`${name}, as a viewer.`], footer: `About ${name}` });
    expect(text).toBe(
      'Trial" Your account is locked: https://example.org , as a viewer.\n\n-- \nAbout Trial" Your account is locked: https://example.org\n',
    );
  });

  test('say the same in text and HTML, and escape what they are given', () => {
    const hostile = `<script>alert("x")</script> & 'co'`;
    const made = writeLetter({
      subject: `Join\r\nBcc: all@example.com ${hostile}`,
      paragraphs: [hostile, 'second'],
      action: { label: hostile, url: 'https://example.org/?a=1&b="2"' },
      footer: hostile,
    });
    expect(made.subject).not.toMatch(/[\r\n]/);
    expect(made.html).not.toContain('<script>');
    expect(made.html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;co&#39;');
    expect(made.html).toContain('href="https://example.org/?a=1&amp;b=&quot;2&quot;"');
    expect(made.text).toContain(hostile);
    const code = writeSignInCode({ code: '012345', minutes: 5 });
    expect(codeIn(code.text)).toBe('012345');
    expect(code.html).toContain('012345');
    expect(code.subject).not.toContain('012345');
  });

  test('go to the outbox as whole files that only we can read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fieldlake-outbox-'));
    cleanups.push(async () => rmSync(folder, { recursive: true }));
    const mailer = await openOutbox({ folder: join(folder, 'outbox'), from: 'fieldlake <no-reply@example.org>' });
    await Promise.all(Array.from({ length: 20 }, () => mailer.send(letter)));
    const files = readdirSync(join(folder, 'outbox'));
    expect(files.filter((name) => name.endsWith('.eml'))).toHaveLength(20);
    const [file] = files;
    const text = readFileSync(join(folder, 'outbox', file!), 'utf8');
    expect(text).toContain('To: somebody@example.com');
    expect(text).toContain('Hello there');
    expect(statSync(join(folder, 'outbox', file!)).mode & 0o077).toBe(0);
    await mailer.send({ ...letter, to: 'Else@example.com', text: 'About somebody@example.com' });
    await mailer.send({ ...letter, to: 'anna@münchen.example' });
    // as a crash leaves a letter that was being written
    writeFileSync(join(folder, 'outbox', '.cut-off.part'), text.slice(0, text.indexOf('Hello there')));
    await mailer.forget((address) => ['somebody@example.com', 'anna@münchen.example'].includes(address.toLowerCase()));
    const left = readdirSync(join(folder, 'outbox'));
    expect(left.map((name) => /^To: (.*)$/m.exec(readFileSync(join(folder, 'outbox', name), 'utf8'))?.[1])).toEqual(['Else@example.com']);
  });

  test('go out by SMTP; what the server refuses for good is told apart from what it may take later', async () => {
    let answer: Error | null = null;
    const { letters, url } = await mailServer(() => answer);
    const mailer = openSmtp({ url, from: 'fieldlake <no-reply@example.org>' });
    cleanups.push(() => mailer.close());
    await mailer.check();
    await mailer.send(letter);
    expect(letters).toMatchObject([{ to: ['somebody@example.com'] }]);
    expect(letters[0]!.text).toContain('From: fieldlake <no-reply@example.org>');
    answer = refusal(550);
    await expect(mailer.send(letter)).rejects.toMatchObject({ code: 'MAIL_REFUSED' });
    answer = refusal(451);
    await expect(mailer.send(letter)).rejects.toMatchObject({ code: 'MAIL_UNAVAILABLE' });
    answer = null;
    const opened = (from: string, password: string) => {
      const made = openSmtp({ url: url.replace('//', `//ada:${password}@`), from });
      cleanups.push(() => made.close());
      return made;
    };
    await opened('x@example.org', 'right').send(letter);
    for (const mended of [opened('x@example.org', 'former'), opened('nobody@example.org', 'right')])
      await expect(mended.send(letter)).rejects.toMatchObject({ code: 'MAIL_UNAVAILABLE' });
    const gone = openSmtp({ url: 'smtp://127.0.0.1:1', from: 'x@example.org' });
    await expect(gone.send(letter)).rejects.toMatchObject({ code: 'MAIL_UNAVAILABLE' });
    await expect(gone.check()).rejects.toBeDefined();
    await gone.close();
  });
});

describe.concurrent('the job', () => {
  test('sends exactly when the transaction commits, tries again, and leaves nothing readable in the queue', async () => {
    // a mail server that is away for more than a few minutes
    let failures = 10;
    const { letters, url } = await mailServer(() => ((failures -= 1) >= 0 ? refusal(451) : null));
    const site = await startTestServer({ SMTP_URL: url });
    cleanups.push(() => site.stop());
    const context = await site.context();
    await expect(
      context.db.transaction(async (tx) => {
        await enqueueLetter(context, tx, { to: 'never@example.com', letter: 'sign-in-code', data: { code: '111111', minutes: 5 } });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await context.db.transaction((tx) =>
      enqueueLetter(context, tx, { to: 'late@example.com', letter: 'sign-in-code', data: { code: '987654', minutes: 5 } }),
    );
    const queued = await context.db.rows<{ data: string }>(sql('t')`select data::text as data from pgboss.job where name = 'mail.send'`);
    expect(queued).toHaveLength(1);
    expect(queued[0]!.data).not.toMatch(/987654|late@/);
    for (let tries = 0; tries < 800 && letters.length === 0; tries += 1) {
      await context.db.run(sql('t')`update pgboss.job set start_after = now() where name = 'mail.send' and state = 'retry'`);
      await setTimeout(50);
    }
    expect(letters).toMatchObject([{ to: ['late@example.com'] }]);
    expect(failures).toBeLessThan(0);
    const after = await context.db.rows<{ row: string }>(
      sql('t')`select to_jsonb(j)::text as row from pgboss.job j where name = 'mail.send'`,
    );
    expect(after.map(({ row }) => row).join()).not.toMatch(/987654|late@/);
  });

  test('drops a letter that waited too long, and one that another secret sealed', async () => {
    const site = await startTestServer();
    cleanups.push(() => site.stop());
    const context = await site.context();
    const data = { code: '222222', minutes: 5 };
    await enqueueLetter(context, context.db, { to: 'stale@example.com', letter: 'sign-in-code', data, worthSeconds: -1 });
    await context.jobs.enqueue('mail.send', { sealed: 'AAAA' }, {});
    await enqueueLetter(context, context.db, { to: 'good@example.com', letter: 'sign-in-code', data });
    await nextLetter(site, 'good@example.com', 0);
    expect(lettersTo(site, 'stale@example.com')).toEqual([]);
  });
});
