/** Devices that publish to a broker over TLS, each with a certificate of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MqttClient } from 'mqtt';
import { messageAt } from '../pipeline.ts';
import { MESSAGES } from './questions.ts';

export interface Device {
  client: MqttClient;
  topic: string;
}

/** Publishes messages that nobody has published before, as fast as they are taken; milliseconds until the last is acknowledged. */
export async function publish(devices: readonly Device[], batch: number): Promise<number> {
  const started = Date.UTC(2026, 4, 1 + batch);
  const texts = Array.from({ length: MESSAGES }, (_, n) => messageAt(n, started, `m-${batch}`));
  const begin = performance.now();
  await Promise.all(
    texts.map(async (text, n) => {
      const device = devices[n % devices.length];
      await device?.client.publishAsync(device.topic, text, { qos: 1 });
    }),
  );
  return performance.now() - begin;
}

/** Looks until there are so many; what there was last. */
export async function waitForCount(count: () => Promise<number>, wanted: number): Promise<number> {
  const until = Date.now() + 120_000;
  for (;;) {
    const there = await count();
    if (there >= wanted || Date.now() > until) return there;
    await sleep(50);
  }
}
