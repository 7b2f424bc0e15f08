import { against, quantile, type Measured } from './pairs.ts';
import { FROM, startFleetSite, TO, type FleetSite } from './seed-fleet.ts';

const TIMES = Number(process.env['PAIRS'] ?? 100);
const DAY = 86_400_000;

interface Question {
  name: string;
  path: (ids: { deviceId: string; groupId: string }) => string;
  from: number;
  to: number;
  bucket: 'hour' | 'day';
  bound: number;
}

const CUT = 1_234_567;
const QUESTIONS: readonly Question[] = [
  { name: 'fleet view of 2,000 devices, 31 days by day', path: () => 'devices/monitoring', from: FROM, to: TO, bucket: 'day', bound: 300 },
  {
    name: 'the same, of a range that cuts hours on both sides',
    path: () => 'devices/monitoring',
    from: FROM + CUT,
    to: TO - CUT,
    bucket: 'day',
    bound: 300,
  },
  {
    name: 'fleet view of 2,000 devices, a day by hour',
    path: () => 'devices/monitoring',
    from: TO - DAY,
    to: TO,
    bucket: 'hour',
    bound: 300,
  },
  {
    name: 'view of a group of 100 devices, 31 days by day',
    path: ({ groupId }) => `device-groups/${groupId}/monitoring`,
    from: FROM + CUT,
    to: TO - CUT,
    bucket: 'day',
    bound: 300,
  },
  {
    name: 'view of one device, 31 days by hour',
    path: ({ deviceId }) => `devices/${deviceId}/monitoring`,
    from: FROM + CUT,
    to: TO - CUT,
    bucket: 'hour',
    bound: 300,
  },
];

/** Monitoring of a started site through HTTP, to the last byte, against bounds in milliseconds. */
async function measureFleet(site: FleetSite): Promise<Measured[]> {
  const results: Measured[] = [];
  for (const { name, path, from, to, bucket, bound } of QUESTIONS) {
    const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), bucket });
    const ask = async (): Promise<number> => {
      const start = performance.now();
      const response = await fetch(`${site.baseUrl}/api/v1/${path(site)}?${query.toString()}`, { headers: { 'x-api-key': site.apiKey } });
      const text = await response.text();
      const taken = performance.now() - start;
      if (response.status !== 200 || !text.includes('"pipelineUnavailable":false')) throw new Error(`${name}: ${response.status}`);
      return taken;
    };
    for (let turn = 0; turn < 5; turn += 1) await ask();
    const taken: number[] = [];
    for (let turn = 0; turn < TIMES; turn += 1) taken.push(await ask());
    results.push(against(`${name} at ${site.measurements.toLocaleString('en')} measurements, p95, ms`, quantile(taken, 0.95), bound));
    results.push(against(`${name}, median, ms`, quantile(taken, 0.5), bound));
  }
  const fleet = await fetch(
    `${site.baseUrl}/api/v1/devices/monitoring?${new URLSearchParams({ from: new Date(FROM).toISOString(), to: new Date(TO).toISOString(), bucket: 'day' }).toString()}`,
    { headers: { 'x-api-key': site.apiKey } },
  );
  const { throughput } = (await fleet.json()) as { throughput: { count: number }[] };
  const total = throughput.reduce((sum, { count }) => sum + count, 0);
  if (total !== site.measurements) throw new Error(`the fleet view counts ${total} of ${site.measurements} measurements`);
  return results;
}

/** `ROWS` makes it smaller than 20 million measurements. */
export async function benchFleet(url: string, dataDir: string): Promise<Measured[]> {
  const start = performance.now();
  const site = await startFleetSite({ url, dataDir, rows: Number(process.env['ROWS'] ?? 20_000_000) });
  process.stderr.write(
    `${site.measurements.toLocaleString('en')} measurements were made in ${((performance.now() - start) / 1000).toFixed(0)} s\n`,
  );
  try {
    return await measureFleet(site);
  } finally {
    await site.stop();
  }
}
