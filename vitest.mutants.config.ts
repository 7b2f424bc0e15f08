import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/mutants/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    pool: 'forks',
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
