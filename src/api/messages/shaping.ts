import type { MeasurementRow } from '../../ingest/messages/store.ts';
import { cleanText, readJson } from '../../json.ts';
import type { HourCount, RecentRow } from './measurements.queries.ts';

/** Measurements as summed up for monitoring, with the newest ones of each client. */
export interface Shaped {
  hours: HourCount[];
  runs: { clientId: string; runId: string; hour: string }[];
  recent: RecentRow[];
}

/** How many of the newest measurements of a device are kept to be shown. */
export const RECENT = 50;

/** How many characters are kept of a word that a device says about itself, and of the list of macros. All of them together fit one index entry. */
const LONGEST_WORD = 100;
const LONGEST_LIST = 370;
const LONGEST_SAMPLE = 65_536;

const clean = (text: string, longest: number) => cleanText(text.slice(0, longest));
const word = (text: string | null) => (text === null ? null : clean(text, LONGEST_WORD));

/** How far a clock may be ahead: the local time of any zone, taken for UTC, is. */
const AHEAD_MS = 86_400_000;

/** The last instant that a clock can mean which is not wrong. What is later counts as older than everything else. */
export const findLastInstant = (): string => new Date(Date.now() + AHEAD_MS).toISOString();

// times all have one form, so their texts sort by time; within one instant the lesser id is first, as in the table
const newest = (rows: readonly RecentRow[], last: string) =>
  rows
    .toSorted((a, b) => Number(a.at > last) - Number(b.at > last) || (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? -1 : 1))
    .slice(0, RECENT);

const hourOf = (timestamp: string) => `${timestamp.slice(0, 13)}:00:00Z`;

/** Lists the macros' ids with commas between them: only whole ids, as many as fit. */
function macroIds(json: string | null): string {
  const ids = (readJson(json ?? '[]') as { id: string | null }[]).flatMap(({ id }) => (id === null ? [] : [clean(id, LONGEST_WORD)]));
  return ids.reduce((list, id) => {
    const longer = list === '' ? id : `${list},${id}`;
    return longer.length > LONGEST_LIST ? list : longer;
  }, '');
}

/**
 * Sums up measurements of one experiment for monitoring; each is given as its rows. Those without a client id, such as uploaded objects, are counted under
 * `''`. `last` is the last instant that is believed. Pure.
 */
export function sumMeasurements(measurements: readonly (readonly MeasurementRow[])[], last: string): Shaped {
  const hours = new Map<string, HourCount>();
  const runs: Shaped['runs'] = [];
  const recent = new Map<string, RecentRow[]>();
  for (const [row] of measurements) {
    if (!row) continue;
    const { facts, id, data } = row;
    const { timestamp, latitude, longitude } = facts;
    const battery = facts.deviceBattery !== null && Math.abs(facts.deviceBattery) < 1e100 ? facts.deviceBattery : null;
    const clientId = row.clientId ?? '';
    const hour = hourOf(timestamp);
    const version = word(facts.deviceFirmware ?? facts.deviceVersion);
    const protocolId = word(facts.protocolId);
    const workbookVersionId = word(facts.workbookVersionId);
    const key = {
      ...{ clientId, hour, macros: macroIds(row.macros) },
      ...{ version: version ?? '', protocolId: protocolId ?? '', workbookVersionId: workbookVersionId ?? '' },
    };
    const name = JSON.stringify(key);
    const sum = hours.get(name) ?? {
      ...key,
      count: 0,
      withGps: 0,
      withBattery: 0,
      batterySum: 0,
      firstAt: timestamp,
      lastAt: timestamp,
      instants: [],
    };
    const runId = word(facts.workbookRunId);
    const gps = latitude !== null && longitude !== null;
    if (row.clientId !== null) sum.instants.push({ at: timestamp, gps, battery, runId });
    sum.count += 1;
    if (gps) sum.withGps += 1;
    if (battery !== null) {
      sum.withBattery += 1;
      sum.batterySum += battery;
    }
    if (timestamp < sum.firstAt) sum.firstAt = timestamp;
    if (timestamp > sum.lastAt) sum.lastAt = timestamp;
    hours.set(name, sum);
    // monitoring finds a device by its client id, so a measurement without one is only counted
    if (row.clientId === null) continue;
    if (runId !== null) runs.push({ clientId, runId, hour });
    const sample = data === null ? null : clean(data, LONGEST_SAMPLE);
    const list = recent.get(clientId) ?? [];
    list.push({ clientId, id, at: timestamp, protocolId, workbookVersionId, version, battery, latitude, longitude, sample });
    recent.set(clientId, list.length < 4 * RECENT ? list : newest(list, last));
  }
  return { hours: [...hours.values()], runs, recent: [...recent.values()].flatMap((list) => newest(list, last)) };
}
