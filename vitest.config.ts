import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/conformance/**', 'test/soak/**', 'test/mutants/**'],
    globalSetup: ['test/support/generated-client.ts', 'test/support/global.ts', 'test/support/seen.ts'],
    setupFiles: ['test/support/fetched.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // ends what hangs: the slowest without a limit of its own takes 13 s on two quiet cores
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
