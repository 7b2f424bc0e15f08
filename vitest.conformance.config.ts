import { defineConfig } from 'vitest/config';

/** Ourselves against other people's clients, proxies and servers; needs Python and a package index. */
export default defineConfig({
  test: {
    include: ['test/conformance/**/*.test.ts'],
    globalSetup: ['test/support/generated-client.ts', 'test/support/global.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
