import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { scripts: { start: string } };
const [, variables, flags] = /^exec env (.*) node (.*)$/.exec(scripts.start) ?? [];
if (variables === undefined || flags === undefined) throw new Error(`not how a server is started: ${scripts.start}`);

/** What `npm start` hands to Node: flags, and the built server. */
export const startArguments: readonly string[] = flags.split(' ');

/** What `npm start` sets: the size of the thread pool, and how the C library gives memory back. */
export const startEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  variables.split(' ').map((each) => each.split('=') as [string, string]),
);
