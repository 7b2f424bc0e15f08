import { defineConfig } from 'vitest/config';
import { asNpm } from './test/support/as-npm.ts';

export default defineConfig({
  test: {
    ...asNpm,
    include: ['test/**/*.test.ts'],
    exclude: ['test/conformance/**', 'test/contributing/**', 'test/mutants/**', 'test/process/**', 'test/soak/**'],
    globalSetup: ['test/support/built.ts', 'test/support/generated-client.ts', 'test/support/global.ts', 'test/support/seen.ts'],
    setupFiles: ['test/support/fetched.ts'],
    // of two cores a quarter was idle with two, since files wait for jobs and clocks: 494 s in place of 556
    maxWorkers: 3,
    // files of a worker share its process and modules: starting and reading them anew took 0.1 to 0.8 s of processor a file
    isolate: false,
    // ends what hangs: the slowest without a limit of its own took 120 s on a busy machine
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
