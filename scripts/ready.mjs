// Runs before the service and its commands, in plain JavaScript so that an older Node can say what is wrong too.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** @param {string} sentence */
function refuse(sentence) {
  process.stderr.write(`fieldlake cannot start: ${sentence}\n`);
  process.exit(1);
}

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const least = Number(/\d+/.exec(engines.node)?.[0]);
if (Number(process.versions.node.split('.')[0]) < least)
  refuse(
    `it needs Node.js ${least} and this is ${process.version}; the package brings the right one, unless npm was told to run no install scripts.`,
  );

// what builds comes with the development dependencies; a production install has none of it and runs what was built before
if (existsSync(join(root, 'node_modules', 'typescript'))) {
  if (!existsSync(join(root, 'build', 'src', 'server.js')))
    process.stderr.write('fieldlake is built first, which takes about half a minute this once.\n');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
} else if (!existsSync(join(root, 'build', 'src', 'server.js')))
  refuse(
    'there is no build/ and nothing here that could make it; run npm ci && npm run build where the development dependencies are, and copy build/.',
  );
