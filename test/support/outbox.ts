import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { noteSecret } from './canaries.ts';
import type { TestServer } from './server.ts';

/** Letters in the server's outbox to an address, oldest first, as their files hold them. */
export function lettersTo(site: Pick<TestServer, 'dataDir'>, address: string): string[] {
  const folder = join(site.dataDir, 'outbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((text) => text.toLowerCase().includes(`to: ${address.toLowerCase()}`) || text.includes(`To: <${address}>`));
}

/** Waits until an address has more letters than it had, and answers the newest. */
export async function nextLetter(site: Pick<TestServer, 'dataDir'>, address: string, had: number): Promise<string> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const letters = lettersTo(site, address);
    if (letters.length > had) return letters.at(-1)!;
    await setTimeout(25);
  }
  throw new Error(`no letter came for ${address}`);
}

const CODE = /^\s*(\d{6})\s*$/m;

export const codeIn = (letter: string): string => {
  const code = CODE.exec(letter)?.[1];
  if (code === undefined) throw new Error('the letter holds no code');
  noteSecret(code);
  return code;
};

/** Waits for a letter with a code behind those that an address had; invitations and others may come before it. */
export async function nextCode(site: Pick<TestServer, 'dataDir'>, address: string, had: number): Promise<string> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const letter = lettersTo(site, address)
      .slice(had)
      .findLast((text) => CODE.test(text));
    if (letter !== undefined) return codeIn(letter);
    await setTimeout(25);
  }
  throw new Error(`no code came for ${address}`);
}
