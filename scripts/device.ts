// npm run device -- simulate: instruments that are not there, against a service that is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readQuickstart } from './devices/quickstart.ts';
import { simulate } from './devices/simulation.ts';

const USAGE = `usage:
  npm run device -- simulate [--count N] [--rate PER_SECOND] [--minutes N] [--drop-every SECONDS] [--upload-every SECONDS]
                             [--base-url URL --api-key KEY --experiment ID [--organization ID]] [--ca FILE] [--json]
Without --base-url, --api-key and --experiment, what DATA_DIR/quickstart.json says. --ca: the broker's authority, DATA_DIR/iot/ca.pem when it is there.
`;

const options = {
  count: { type: 'string', default: '50' },
  rate: { type: 'string', default: '1' },
  minutes: { type: 'string', default: '1' },
  'drop-every': { type: 'string', default: '60' },
  'upload-every': { type: 'string', default: '10' },
  'base-url': { type: 'string' },
  'api-key': { type: 'string' },
  experiment: { type: 'string' },
  organization: { type: 'string' },
  ca: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

class UsageError extends Error {}

function number(text: string, name: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least || value > most)
    throw new UsageError(`--${name} is a number from ${least} to ${most}`);
  return value;
}

function authorityOf(file: string | undefined, dataDir: string): string | undefined {
  try {
    return readFileSync(file ?? join(dataDir, 'iot', 'ca.pem'), 'utf8');
  } catch (error) {
    if (file === undefined) return undefined;
    throw new UsageError(`--ca cannot be read: ${(error as Error).message}`);
  }
}

async function main([command, ...args]: string[]): Promise<void> {
  if ([command, ...args].some((word) => word === '--help' || word === '-h')) return void process.stdout.write(USAGE);
  if (command !== 'simulate') throw new UsageError('say simulate');
  const parse = () => {
    try {
      return parseArgs({ args, options }).values;
    } catch (error) {
      throw new UsageError((error as Error).message);
    }
  };
  const values = parse();
  const count = Math.floor(number(values.count, 'count', 1, 2_000));
  const rate = number(values.rate, 'rate', 0.001, 100);
  const seconds = 60 * number(values.minutes, 'minutes', 0.01, 100_000);
  const dropEvery = number(values['drop-every'], 'drop-every', 0, 1e9);
  const uploadEvery = number(values['upload-every'], 'upload-every', 0, 1e9);
  const dataDir = process.env['DATA_DIR'] ?? '.data';
  const quickstart = readQuickstart(dataDir);
  const baseUrl = values['base-url'] ?? quickstart?.baseUrl;
  const apiKey = values['api-key'] ?? quickstart?.apiKey;
  const experimentId = values.experiment ?? quickstart?.experimentId;
  if (baseUrl === undefined || apiKey === undefined || experimentId === undefined)
    throw new UsageError('say --base-url, --api-key and --experiment, or start the server with SAMPLE_DATA=on first');
  const organizationId = values.organization ?? (values['api-key'] === undefined ? quickstart?.organizationId : undefined);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const report = await simulate({
    service: { baseUrl, apiKey, experimentId, organizationId },
    count,
    rate,
    seconds,
    dropEvery,
    uploadEvery,
    authority: authorityOf(values.ca, dataDir),
    say,
  });
  const { missing, repeated, latency } = report;
  process.stdout.write(
    values.json
      ? `${JSON.stringify(report)}\n`
      : `
devices              ${report.devices}
connections          ${report.connections}
objects uploaded     ${report.objects}
sent anew            ${
          Object.entries(report.sentAnew)
            .map(([why, times]) => `${times} (${why})`)
            .join(', ') || 0
        }
messages published   ${report.published}
acknowledged         ${report.acknowledged}
  their rows         ${report.expected}
  in the table once  ${report.inTable}
  missing            ${missing.length} ${missing.slice(0, 10).join(' ')}
  more than once     ${repeated.length} ${repeated.slice(0, 10).join(' ')}
publish to readable  ${latency ? `p50 ${latency.p50} ms, p95 ${latency.p95} ms, worst ${latency.worst} ms` : 'none seen'}
`,
  );
  process.exitCode = missing.length + repeated.length === 0 ? 0 : 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(
    error instanceof UsageError ? `${error.message}\n${USAGE}` : `${error instanceof Error ? (error.stack ?? '') : String(error)}\n`,
  );
  process.exitCode = 1;
});
