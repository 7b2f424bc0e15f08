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

/** Waits for a letter that is meant behind those that an address had, and answers the newest; any is unless `isMeant` says which. */
export async function nextLetter(
  site: Pick<TestServer, 'dataDir'>,
  address: string,
  had: number,
  isMeant: (letter: string) => boolean = () => true,
): Promise<string> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const letter = lettersTo(site, address).slice(had).findLast(isMeant);
    if (letter !== undefined) return letter;
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

/** Waits for the next code for an address; an invitation may come before it. */
export const nextCode = async (site: Pick<TestServer, 'dataDir'>, address: string, had: number): Promise<string> =>
  codeIn(await nextLetter(site, address, had, (letter) => CODE.test(letter)));
