/** Processor time and memory of processes and of all below them, as Linux counts them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Ticks of a second in which Linux counts processor time. */
const TICKS = 100;

interface Usage {
  parent: number;
  /** Seconds of processor, those of ended children included. */
  seconds: number;
}

/** What Linux has counted of a process; undefined when it is gone. */
export function readUsage(pid: string): Usage | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS };
  } catch {
    return undefined;
  }
}

/** Some processes and all below them. */
function listTree(roots: readonly number[]): [number, Usage][] {
  const all = new Map(
    readdirSync('/proc').flatMap((pid) => {
      const usage = /^\d+$/.test(pid) ? readUsage(pid) : undefined;
      return usage ? [[Number(pid), usage] as const] : [];
    }),
  );
  const isBelow = (pid: number): boolean => roots.includes(pid) || (pid > 1 && isBelow(all.get(pid)?.parent ?? 0));
  return [...all].filter(([pid]) => isBelow(pid));
}

/** Seconds of processor that some processes and all below them have taken. */
export const usageOf = (roots: readonly number[]): number => listTree(roots).reduce((sum, [, { seconds }]) => sum + seconds, 0);

/** Lets the peaks of memory begin anew. */
export function forgetPeaks(roots: readonly number[]): void {
  for (const [pid] of listTree(roots)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Peak resident memory in MiB, the peaks of all processes added up; memory that they share is counted once. */
export function peakOf(roots: readonly number[]): number {
  const sizes = listTree(roots).map(([pid]) => {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const read = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1_024;
    return { peak: read('VmHWM'), shared: read('RssShmem') };
  });
  return sizes.reduce((sum, { peak, shared }) => sum + peak - shared, Math.max(0, ...sizes.map(({ shared }) => shared)));
}
