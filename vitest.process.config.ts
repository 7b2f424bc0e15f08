import { defineConfig } from 'vitest/config';
import whole from './vitest.config.ts';

const { globalSetup = [], exclude: _exclude, ...shared } = whole.test ?? {};

/** What is done to whole processes: kills, faults around them, full disks, floods, backups, upgrades. */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/process/**/*.test.ts'],
    maxWorkers: 2,
    // no run of some files sees every operation
    globalSetup: [globalSetup].flat().filter((path) => !path.endsWith('/seen.ts')),
  },
});
