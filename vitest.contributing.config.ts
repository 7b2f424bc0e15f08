import { defineConfig } from 'vitest/config';
import { asNpm } from './test/support/as-npm.ts';

/** What docs/contributing says, followed in a fresh clone; needs git. */
export default defineConfig({
  test: {
    ...asNpm,
    include: ['test/contributing/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
