import { totalmem } from 'node:os';

/** Bytes of memory that this process may use: those of the machine, or fewer where its control group (a container, a unit of systemd) has a limit. */
export const measureMemory = (limit: number = process.constrainedMemory()): number => Math.min(totalmem(), limit === 0 ? Infinity : limit);
