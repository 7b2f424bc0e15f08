import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { domainToUnicode } from 'node:url';
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.ts';

/** Whom a letter's head names as its recipient. A domain stands there in the letters of DNS; people write it in their own. */
function listRecipients(text: string): string[] {
  const [, local, domain] = /^to:\s*<?([^\s<>]+)@([^\s<>@]+)>?\s*$/im.exec(text.split('\n\n', 1)[0] ?? '') ?? [];
  return local === undefined || domain === undefined ? [] : [`${local}@${domain}`, `${local}@${domainToUnicode(domain)}`];
}

/** A mailer that puts every letter as one RFC 5322 file into a folder, which only the owner of the process can read. */
export async function openOutbox({ folder, from }: { folder: string; from: string }): Promise<Mailer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    destination: folder,
    send: async (letter) => {
      const { message } = await transport.sendMail({ ...letter, from, disableFileAccess: true, disableUrlAccess: true });
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`;
      // a reader of the folder never sees half a letter
      await writeFile(join(folder, `.${name}.part`), message as Buffer, { mode: 0o600 });
      await rename(join(folder, `.${name}.part`), join(folder, `${name}.eml`));
    },
    check: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    },
    forget: async (isMeant) => {
      // those that a crash has cut off too
      for (const name of await readdir(folder)) {
        // another process may be removing the same letters
        const to = listRecipients(await readFile(join(folder, name), 'utf8').catch(() => ''));
        if (to.some(isMeant)) await rm(join(folder, name), { force: true });
      }
    },
    close: async () => transport.close(),
  };
}
