import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/mutants/**/*.test.ts'],
    globalSetup: ['test/support/generated-client.ts', 'test/support/global.ts'],
    pool: 'forks',
    // an operation whose guard is gone has no caller: it may throw while it waits for something else
    dangerouslyIgnoreUnhandledErrors: true,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
