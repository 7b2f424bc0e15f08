import { defineConfig } from 'vitest/config';
import { asNpm } from './test/support/as-npm.ts';

export default defineConfig({
  test: {
    ...asNpm,
    include: ['test/mutants/**/*.test.ts'],
    globalSetup: ['test/support/built.ts', 'test/support/generated-client.ts', 'test/support/global.ts'],
    // an operation whose guard is gone has no caller: it may throw while it waits for something else
    dangerouslyIgnoreUnhandledErrors: true,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
