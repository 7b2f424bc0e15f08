/** Messages as MultispeQ, MiniPAR and Ambyte send them, measured now. */
import { makeMeasurement, makeRandom } from '../../src/operator/sample/season.ts';

export const INSTRUMENTS = ['multispeq', 'minipar', 'ambyte'] as const;
export type Instrument = (typeof INSTRUMENTS)[number];

const POINTS = 24;

/** One trace of an Ambyte: fluorescence of its four ambits under a pulse of light. */
function trace(random: () => number) {
  return Array.from({ length: 4 }, (_, ambit) => {
    const rest = 380 + Math.floor(random() * 60);
    return {
      ambit: ambit + 1,
      par: Math.round(random() * 1_600),
      leaf_temp: Number((18 + random() * 8).toFixed(2)),
      signal: Array.from({ length: POINTS }, (_at, point) => Math.floor(rest * (point > 7 && point < 18 ? 2.6 : 1) + random() * 9)),
    };
  });
}

export interface Sender {
  instrument: Instrument;
  serialNumber: string;
  name: string;
}

/** The n-th message of a sender: its own id, the time, and as many rows as its sample has elements. */
export function messageOf(sender: Sender, n: number, id: string, at: Date): { body: object; rows: number } {
  const random = makeRandom(n + 77);
  const own = { id, timestamp: at.toISOString(), device_id: sender.serialNumber, device_name: sender.name };
  if (sender.instrument === 'ambyte') {
    const sample = trace(random);
    const about = { device_version: '1', device_firmware: '3.0', device_battery: Number((3.4 + random() * 0.7).toFixed(2)) };
    return { body: { ...own, ...about, timezone: 'Europe/Amsterdam', sample }, rows: sample.length };
  }
  // every fourth measurement of the season is a MiniPAR's
  const of = sender.instrument === 'minipar' ? n * 4 + 3 : n + Math.floor(n / 3);
  return { body: { ...makeMeasurement(of), ...own }, rows: 1 };
}
