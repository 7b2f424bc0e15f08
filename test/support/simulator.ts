import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { SimulationReport } from '../../scripts/devices/simulation.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Runs `npm run device -- simulate` as a person would, and answers what it reported. */
export async function runSimulator(
  site: { dataDir: string; baseUrl: string; apiKey: string; experimentId: string },
  ...args: string[]
): Promise<{ code: number; report: SimulationReport | undefined; said: string }> {
  const { dataDir, baseUrl, apiKey, experimentId } = site;
  const address = ['--base-url', baseUrl, '--api-key', apiKey, '--experiment', experimentId];
  const child = spawn(process.execPath, ['--no-experimental-webstorage', 'scripts/device.ts', 'simulate', '--json', ...address, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.once('close', (ended) => resolve(ended ?? -1)));
  return { code, said, report: text === '' ? undefined : (JSON.parse(text) as SimulationReport) };
}
