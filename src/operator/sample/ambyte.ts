/** Trace files of an Ambyte with four ambits, as its card holds them: one folder an ambit, one file a day. */
import { makeRandom } from './season.ts';

const DAYS = 2;
const TRACES = 12;
const POINTS = 24;
const FIRST_DAY = Date.UTC(2026, 5, 1) / 1_000;

/** Path and text of every file. */
export function makeAmbyteFiles(): { path: string; text: string }[] {
  return Array.from({ length: DAYS * 4 }, (_, n) => {
    const day = Math.floor(n / 4);
    const ambit = (n % 4) + 1;
    const random = makeRandom(500_000 + n);
    const start = FIRST_DAY + day * 86_400 + 6 * 3_600;
    const stamp = new Date(start * 1_000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    const ints = (of: (at: number) => number) => Array.from({ length: POINTS }, (_, at) => Math.round(of(at))).join(',');
    const lines = [`AMBYTE\tv2\t${start}`, `I1\t1000\t${start}`, 'INFO START\tAct: 3.5\tDark: 12', 'INFO END'];
    for (let trace = 0; trace < TRACES; trace += 1) {
      const at = 1_000 + trace * 3_600_000;
      const light = Math.sin(((trace + 0.5) / TRACES) * Math.PI);
      const spectrum = Array.from({ length: 10 }, () => Math.floor(light * 3_000 * random())).join(',');
      lines.push(
        `P\t${at}\t${(1_700 * light * (0.8 + 0.2 * random())).toFixed(1)}\t${spectrum}\t${Math.floor(40_000 * light)}`,
        `L\t${at + 100}\t${Math.round((273.1 + 14 + 12 * light + random()) * 10)}\t0\t${(20 + 10 * light).toFixed(1)}`,
        `A\t${at + 200}\t${at + 900}\tfs_fm\t1,0,0,12,1,44,0,0,2,0,0,12,1,44,${Math.floor(200 * light)},0`,
        `T0\t${ints((point) => point * 30)}`,
        `T1\t${ints((point) => (point < 12 ? 420 : 1_500 - 500 * light) + 10 * random())}`,
        `T2\t${ints(() => 1_000 + 4 * random())}`,
        `T3\t${ints(() => 65_536 + 16 * 900 * light)}`,
        `T4\t${ints(() => 65_536 + 16 * 300 * light)}`,
      );
    }
    return { path: `Ambyte_7/${ambit}/${stamp}_.txt`, text: `${lines.join('\n')}\n` };
  });
}
