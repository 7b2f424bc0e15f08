// Imported by every configuration of vitest: whoever starts it, an editor too, tests run as `npm test` runs them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const NODE = join(import.meta.dirname, '..', '..', 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
/** The oldest one that the service runs on. */
const LEAST = 26;

// workers and servers are started with it: vitest itself may be run by the older Node of an editor
if (Number(process.versions.node.split('.')[0]) < LEAST && existsSync(NODE)) process.execPath = NODE;
// a worker reads it when it is started
process.env['UV_THREADPOOL_SIZE'] ??= '32';

/** What every configuration has in common. */
export const asNpm: {
  execArgv: string[];
  pool: 'forks';
  expect: { poll: { timeout: number } };
  chaiConfig: { truncateThreshold: number };
} = {
  // two stores that this Node would open in a file of the folder it is started in
  execArgv: ['--no-experimental-webstorage'],
  pool: 'forks',
  // one second, as vitest has it, is too short for a page or a job on a loaded machine
  expect: { poll: { timeout: 30_000 } },
  // CI prints the messages of failed tests without their differences: 40 characters, as Chai has it, say too little
  chaiConfig: { truncateThreshold: 1_500 },
};
