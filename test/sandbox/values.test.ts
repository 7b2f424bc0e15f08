import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';

describe.runIf(LEVELS.bubblewrap.runs)(`values of python and r ${titleOf('bubblewrap')}`, () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level: 'bubblewrap', languages: ['python', 'r'] });
  });
  afterAll(async () => sandbox.close());

  it('numpy and pandas become JSON', async () => {
    const code = `import datetime, math, statistics, re, itertools, functools, collections
from scipy import stats
output['scalars'] = [np.int64(1), np.float32(0.5), np.bool_(True), np.float64('nan'), float('inf')]
output['array'] = np.array([[1, 2], [3, np.nan]])
output['frame'] = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})
output['series'] = pd.Series([1.5, None])
output['factor'] = pd.Categorical(['u', 'v', 'u'])
output['when'] = [pd.Timestamp('2024-06-01'), pd.NaT, datetime.date(2024, 6, 1)]
output['set'] = {3, 1, 2}
output['mean'] = np.array([1, 2, 3]).mean()
output['std'] = np.array([1.0, 3.0]).std()
output['keys'] = {1: 'a', (1, 2): 'b'}
print('printed', 1)`;
    const { results } = await sandbox.run(job('python', code, [{}], { itemTimeoutMs: 5_000 }));
    expect(results[0]).toMatchObject({
      success: true,
      logs: ['printed 1'],
      output: {
        scalars: [1, 0.5, true, null, null],
        array: [
          [1, 2],
          [3, null],
        ],
        frame: [
          { a: 1, b: 'x' },
          { a: 2, b: null },
        ],
        series: [1.5, null],
        factor: ['u', 'v', 'u'],
        when: ['2024-06-01T00:00:00', null, '2024-06-01'],
        set: [1, 2, 3],
        mean: 2,
        std: 1,
        keys: { '1': 'a', '1, 2': 'b' },
      },
    });
  });

  it('vectors, factors and frames of R become JSON', async () => {
    const code = `library(MASS)
output$one <- 5
output$kept <- I(5)
output$many <- c(1, NaN, Inf, NA)
output$named <- c(a = 1, b = 2)
output$factor <- factor(c("u", "v"))
output$frame <- data.frame(a = 1:2, b = c("x", NA))
output$matrix <- matrix(1:4, 2)
output$when <- as.Date("2024-06-01")
output$text <- NA_character_
output$nested <- list(list(k = TRUE), NULL)
output$empty <- list()
cat("printed", 1, "\\n")
message("told")`;
    const { results } = await sandbox.run(job('r', code, [{}], { itemTimeoutMs: 5_000 }));
    expect(results[0]).toMatchObject({
      success: true,
      logs: ['printed 1 ', 'told'],
      output: {
        one: 5,
        kept: [5],
        many: [1, null, null, null],
        named: { a: 1, b: 2 },
        factor: ['u', 'v'],
        matrix: [
          [1, 3],
          [2, 4],
        ],
        when: '2024-06-01',
        text: null,
        nested: [{ k: true }, null],
        empty: [],
        frame: [
          { a: 1, b: 'x' },
          { a: 2, b: null },
        ],
      },
    });
  });

  it('imports outside the list are refused by name', async () => {
    const { results } = await sandbox.run(job('python', 'import os', [{}]));
    expect(results[0]!.error).toMatchObject({
      type: 'ImportError',
      message: expect.stringContaining("import of 'os' is not allowed; allowed are math"),
      line: 1,
    });
  });
});
