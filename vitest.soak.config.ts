import { defineConfig } from 'vitest/config';

/** Heavy counts and timed comparisons: run alone, on a quiet machine. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
