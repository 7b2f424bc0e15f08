import { defineConfig } from 'vitest/config';
import { asNpm } from './test/support/as-npm.ts';

const asked = (name: string, full: string) => ({ [name]: process.env[name] ?? full });

/** Heavy counts and timed comparisons at full size, unless the environment names a smaller one: run alone, on a quiet machine. */
export default defineConfig({
  test: {
    ...asNpm,
    include: [
      'test/soak/**/*.test.ts',
      'test/process/{changes,crash,devices,downloads,drain,exports,faults-around,faults-postgres,heals,hostile-bodies,macros,messages,overload}.test.ts',
      'test/conformance/{machines,spark,strange-clients,schemathesis/schemathesis}.test.ts',
      'test/conformance/console-{library,long-table,questions,refused,upload,workbooks}.test.ts',
      'test/api/{identities,monitoring,search,upload-previews,withdrawals}.test.ts',
      'test/contributing/recipes.test.ts',
      'test/architecture/statements.test.ts',
      'test/auth/revocation.test.ts',
      'test/lakehouse/{kept-rows,oracle,parquet-cut,publisher,seek}.test.ts',
      'test/ingest/{append,csv,first-rows,late-values,previews,reconciliation}.test.ts',
      'test/sandbox/{batch,escapes,javascript,leftovers}.test.ts',
    ],
    env: { ...asked('SOAK', '1'), ...asked('KILLS', '200'), ...asked('HEALS', '50'), ...asked('MESSAGES', '10000') },
    globalSetup: ['test/support/built.ts', 'test/support/generated-client.ts', 'test/support/global.ts', 'test/support/sample-site.ts'],
    setupFiles: ['test/support/fetched.ts'],
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
