import { defineConfig } from 'vitest/config';
import { asNpm } from './test/support/as-npm.ts';

/** Ourselves against other people's clients, proxies and servers; needs Python and a package index. */
export default defineConfig({
  test: {
    ...asNpm,
    include: ['test/conformance/**/*.test.ts'],
    globalSetup: ['test/support/built.ts', 'test/support/generated-client.ts', 'test/support/global.ts'],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
