import type { MessageRow } from '../../ingest/broker-messages.ts';
import { decodePayload, type Measurement } from '../../iot/payload.ts';
import type { Fact, HourCount, RecentRow, Verdict, WaitingMessage } from './messages.queries.ts';

/** What a batch of messages comes to: rows for the lake, sums for monitoring, and what became of each message. */
export interface Shaped {
  rows: MessageRow[];
  facts: Fact[];
  hours: HourCount[];
  runs: { clientId: string; runId: string; hour: string }[];
  recent: RecentRow[];
  verdicts: Verdict[];
}

const clocks = new Map<string, Intl.DateTimeFormat | null>();

function clockOf(timezone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(timezone);
  if (known !== undefined) return known;
  let clock: Intl.DateTimeFormat | null = null;
  try {
    clock = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  } catch {
    clock = null;
  }
  if (clocks.size < 1_000) clocks.set(timezone, clock);
  return clock;
}

/** `yyyy-MM-dd HH:mm:ss` where the device was; null without a zone that is one. */
function localTime(timestamp: string, timezone: string | null): string | null {
  const clock = timezone === null ? null : clockOf(timezone);
  return clock ? clock.format(new Date(timestamp)) : null;
}

const refusalOf = (message: WaitingMessage): string | null => {
  if (message.status === null) return 'experiment-gone';
  if (message.status === 'archived') return 'archived';
  return message.isAllowed ? null : 'not-allowed';
};

const hourOf = (timestamp: string) => `${timestamp.slice(0, 13)}:00:00Z`;

// beyond this an instrument's clock is not one that Postgres or a calendar can hold
const isUsable = (timestamp: string) => /^\d{4}-/.test(timestamp);

function addHour(hours: Map<string, HourCount>, message: WaitingMessage, measured: Measurement, version: string): void {
  const hour = hourOf(measured.timestamp);
  const macros = (JSON.parse(measured.macros ?? '[]') as { id?: unknown }[]).flatMap((macro) =>
    typeof macro.id === 'string' ? [macro.id] : [],
  );
  const key = {
    clientId: message.clientId,
    hour,
    version,
    protocolId: message.protocolId ?? measured.protocolId ?? '',
    workbookVersionId: measured.workbookVersionId ?? '',
    macros: macros.join(','),
  };
  const name = JSON.stringify(key);
  const known = hours.get(name) ?? {
    ...key,
    count: 0,
    withGps: 0,
    withBattery: 0,
    batterySum: 0,
    firstAt: measured.timestamp,
    lastAt: measured.timestamp,
  };
  known.count += 1;
  if (measured.latitude !== null && measured.longitude !== null) known.withGps += 1;
  if (measured.deviceBattery !== null && Math.abs(measured.deviceBattery) < 1e100) {
    known.withBattery += 1;
    known.batterySum += measured.deviceBattery;
  }
  if (measured.timestamp < known.firstAt) known.firstAt = measured.timestamp;
  if (measured.timestamp > known.lastAt) known.lastAt = measured.timestamp;
  hours.set(name, known);
}

function addFact(facts: Map<string, Fact>, message: WaitingMessage, measured: Measurement, processedAt: string): void {
  const deviceId = measured.deviceId ?? message.sensorId;
  const firmware = measured.deviceFirmware ?? '';
  const name = JSON.stringify([message.clientId, deviceId, firmware]);
  const known = facts.get(name);
  facts.set(name, {
    clientId: message.clientId,
    deviceId,
    firmware,
    name: measured.deviceName ?? known?.name ?? null,
    version: measured.deviceVersion ?? known?.version ?? message.sensorVersion,
    battery: measured.deviceBattery ?? known?.battery ?? null,
    total: (known?.total ?? 0) + 1,
    processedAt,
  });
}

/** Row ids are made of the message's identity and the place within it, so that storing it again makes the same ids. */
function rowsOf(message: WaitingMessage, measured: Measurement, experimentId: string, processedAt: string): MessageRow[] {
  const source = message.source.toString('hex').slice(0, 20);
  const local = localTime(measured.timestamp, measured.timezone);
  const samples: readonly (string | null)[] = measured.samples.length === 0 ? [null] : measured.samples;
  return samples.map((data, position) => ({
    id: `${source}-${measured.index}${measured.burst ? `-${position}` : ''}`,
    device_id: measured.deviceId ?? message.sensorId,
    device_name: measured.deviceName,
    timestamp: measured.timestamp,
    timezone: local === null ? null : measured.timezone,
    date: measured.timestamp.slice(0, 10),
    macros: measured.macros,
    protocol_id: message.protocolId ?? measured.protocolId,
    workbook_run_id: measured.workbookRunId,
    latitude: measured.latitude,
    longitude: measured.longitude,
    data,
    processed_timestamp: processedAt,
    measurement_time_local: local,
    local_time: local?.slice(11, 16) ?? null,
    experiment_id: experimentId,
    contributor_id: message.userId,
    client_id: message.clientId,
  }));
}

/** Takes a batch of one experiment apart. Pure but for the clock that is handed in (ISO 8601). */
export function shape(experimentId: string, messages: readonly WaitingMessage[], processedAt: string): Shaped {
  const shaped: Shaped = { rows: [], facts: [], hours: [], runs: [], recent: [], verdicts: [] };
  const hours = new Map<string, HourCount>();
  const facts = new Map<string, Fact>();
  for (const message of messages) {
    const refused = refusalOf(message);
    if (refused !== null) {
      shaped.verdicts.push({ id: message.id, status: 'quarantined', reason: refused });
      continue;
    }
    const decoded = decodePayload(message.payload);
    const reasons = decoded.flatMap((each) =>
      each.kind === 'refusal' ? [each.reason] : isUsable(each.timestamp) ? [] : ['timestamp-invalid'],
    );
    const good = decoded.filter((each) => each.kind === 'measurement').filter(({ timestamp }) => isUsable(timestamp));
    shaped.verdicts.push({
      id: message.id,
      status: good.length === 0 ? 'quarantined' : 'stored',
      reason: reasons.length === 0 ? null : [...new Set(reasons)].join(', '),
    });
    for (const measured of good) {
      const version = measured.deviceFirmware ?? measured.deviceVersion ?? message.sensorVersion;
      const rows = rowsOf(message, measured, experimentId, processedAt);
      shaped.rows.push(...rows);
      addHour(hours, message, measured, version);
      addFact(facts, message, measured, processedAt);
      if (measured.workbookRunId !== null)
        shaped.runs.push({ clientId: message.clientId, runId: measured.workbookRunId, hour: hourOf(measured.timestamp) });
      shaped.recent.push({
        clientId: message.clientId,
        id: rows[0]?.id ?? '',
        at: measured.timestamp,
        protocolId: message.protocolId ?? measured.protocolId,
        workbookVersionId: measured.workbookVersionId,
        version,
        battery: measured.deviceBattery,
        latitude: measured.latitude,
        longitude: measured.longitude,
        sample: measured.samples[0] === undefined ? null : measured.samples[0].slice(0, 65_536),
      });
    }
  }
  return { ...shaped, hours: [...hours.values()], facts: [...facts.values()] };
}
