import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { asNpm } from './test/support/as-npm.ts';

/** The longest come first, so that none of them runs alone at the end. Two that start Spark never start together: they fill one cache of its packages. */
const FIRST = ['spark', 'schemathesis', 'lake-bucket', 'delta', 'console-upload', 'console-refused'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? FIRST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

/** Ourselves against other people's clients, proxies and servers; needs Python and a package index. */
export default defineConfig({
  test: {
    ...asNpm,
    include: ['test/conformance/**/*.test.ts'],
    globalSetup: ['test/support/built.ts', 'test/support/generated-client.ts', 'test/support/global.ts', 'test/support/sample-site.ts'],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
