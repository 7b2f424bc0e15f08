/** The service as the simulated devices' owner calls it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateBundle, OnboardingConfig } from '../../src/api/devices/devices.model.ts';
import type { Instrument } from './messages.ts';

export interface Service {
  baseUrl: string;
  apiKey: string;
  experimentId: string;
  organizationId?: string;
}

export interface Provisioned {
  deviceId: string;
  instrument: Instrument;
  serialNumber: string;
  name: string;
  credentials: CertificateBundle;
  config: OnboardingConfig;
}

const PER_CALL = 100;

async function call<T>({ baseUrl, apiKey }: Service, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
  return (await response.json()) as T;
}

type PerDevice<T> = { devices: ({ deviceId: string; error: string | null } & T)[] };

function good<T extends { error: string | null }>(rows: readonly T[]): readonly T[] {
  const bad = rows.find(({ error }) => error !== null);
  if (bad) throw new Error(`a device was refused: ${bad.error ?? ''}`);
  return rows;
}

/** Registers devices of one instrument in a new group, gives each a certificate and binds them to the experiment, a hundred at a time. */
export async function provision(service: Service, instrument: Instrument, serials: readonly string[]): Promise<Provisioned[]> {
  const made: Provisioned[] = [];
  for (let from = 0; from < serials.length; from += PER_CALL) {
    const devices = serials.slice(from, from + PER_CALL).map((serialNumber) => ({ serialNumber, name: `Simulated ${serialNumber}` }));
    const bulk = await call<{ devices: { serialNumber: string; device: { id: string } | null; error: string | null }[]; groupId: string }>(
      service,
      'POST',
      '/api/v1/devices/bulk',
      {
        devices,
        deviceType: instrument,
        organizationId: service.organizationId,
        group: { name: `Simulated ${serials[from] ?? ''}` },
      },
    );
    const ids = new Map(good(bulk.devices).map(({ device, serialNumber }) => [device?.id, serialNumber]));
    const group = `/api/v1/device-groups/${bulk.groupId}`;
    const certified = await call<PerDevice<{ credentials: CertificateBundle }>>(service, 'POST', `${group}/credentials`, {});
    const onboarded = await call<PerDevice<{ config: OnboardingConfig }>>(service, 'POST', `${group}/onboard`, {
      experimentIds: [service.experimentId],
      includeWorkbook: false,
    });
    const configs = new Map(good(onboarded.devices).map(({ deviceId, config }) => [deviceId, config]));
    for (const { deviceId, credentials } of good(certified.devices)) {
      const serialNumber = ids.get(deviceId);
      const config = configs.get(deviceId);
      if (serialNumber === undefined || config === undefined) throw new Error('the group holds a device that was not registered here');
      made.push({ deviceId, instrument, serialNumber, name: `Simulated ${serialNumber}`, credentials, config });
    }
  }
  return made;
}

/** Puts one object of messages by a signed URL; answers the person whose rows they become. Rejects when any step is refused or cut off. */
export async function uploadObject(service: Service, messages: readonly object[]): Promise<string> {
  const bytes = JSON.stringify(messages);
  const { uploadUrl, key, headers } = await call<{ uploadUrl: string; key: string; headers: Record<string, string> }>(
    service,
    'POST',
    '/api/v1/iot/upload-url',
    { experimentId: service.experimentId, contentLength: Buffer.byteLength(bytes) },
  );
  const response = await fetch(uploadUrl, { method: 'PUT', headers, body: bytes });
  if (!response.ok) throw new Error(`the object was answered with ${response.status}`);
  await call(service, 'POST', '/api/v1/iot/upload-complete', { key });
  return key.split('/')[2] ?? '';
}

const notBefore = (column: string, time: Date) => ({ column, operator: 'greater_than_or_equal', value: time.toISOString() });

/** Ids of the rows measured at a time or later, and arrived at a time or later, each as often as it is there. */
export async function rowsSince(service: Service, measured: Date, arrived?: Date): Promise<string[]> {
  const query = new URLSearchParams({
    tableName: 'raw_data',
    columns: 'id',
    filters: JSON.stringify([notBefore('timestamp', measured), ...(arrived ? [notBefore('processed_timestamp', arrived)] : [])]),
  });
  const response = await fetch(`${service.baseUrl}/api/v1/experiments/${service.experimentId}/data?${query.toString()}`, {
    headers: { 'x-api-key': service.apiKey, accept: 'text/csv' },
  });
  if (!response.ok) throw new Error(`reading the table was answered with ${response.status}`);
  return (await response.text())
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((id) => id !== '');
}

/** Tries until it succeeds, every second; undefined when the time is over. */
export async function persist<T>(until: number, act: () => Promise<T>): Promise<T | undefined> {
  while (Date.now() < until) {
    try {
      return await act();
    } catch {
      await sleep(1_000);
    }
  }
  return undefined;
}
