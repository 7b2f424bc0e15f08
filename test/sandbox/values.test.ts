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

  it('times, spans and exact numbers of numpy and pandas keep what they say', async () => {
    const code = `import decimal, fractions
frame = pd.DataFrame({'at': pd.to_datetime(['2026-05-01T12:00:00.5', None])})
output['values'] = frame['at'].values
output['grid'] = np.array([['2026-05-01T00:00:00.000000001']], dtype='datetime64[ns]')
output['single'] = np.array('2026-05-01', dtype='datetime64[D]')
output['spans'] = np.array([1500000000, 'NaT'], dtype='timedelta64[ns]')
output['span'] = pd.Timedelta('1 days 00:00:00.123456789')
output['wide'] = np.longdouble(1) / 4
output['exact'] = [decimal.Decimal('12345678901234567890'), decimal.Decimal('0.1'), decimal.Decimal('7'), decimal.Decimal('1e400'), fractions.Fraction(2**70)]`;
    const { results } = await sandbox.run(job('python', code, [{}], { itemTimeoutMs: 5_000 }));
    expect(results[0]!.error).toBeUndefined();
    expect(results[0]!.output).toEqual({
      values: ['2026-05-01T12:00:00.500000000', null],
      grid: [['2026-05-01T00:00:00.000000001']],
      single: '2026-05-01',
      spans: [1.5, null],
      span: 86400.123456789,
      wide: 0.25,
      exact: ['12345678901234567890', 0.1, 7, null, '1180591620717411303424'],
    });
  });

  it('times of R keep fractions of a second, whatever kind they are', async () => {
    const code = `output$at <- as.POSIXct("2026-05-01 14:05:07.123456", tz = "UTC")
output$whole <- as.POSIXct("2026-05-01 14:05:07", tz = "Europe/Berlin")
output$many <- as.POSIXct(c("2026-05-01 14:05:07.9999996", NA, "1969-12-31 23:59:59.25"), tz = "UTC")
output$parsed <- strptime("01.05.2026 14:05", "%d.%m.%Y %H:%M", tz = "UTC")
output$frame <- data.frame(at = as.POSIXct("2026-05-01 00:00:00.5", tz = "UTC"))`;
    const { results } = await sandbox.run(job('r', code, [{}], { itemTimeoutMs: 5_000 }));
    expect(results[0]!.output).toEqual({
      at: '2026-05-01T14:05:07.123456Z',
      whole: '2026-05-01T12:05:07Z',
      many: ['2026-05-01T14:05:08Z', null, '1969-12-31T23:59:59.250000Z'],
      parsed: '2026-05-01T14:05:00Z',
      frame: [{ at: '2026-05-01T00:00:00.500000Z' }],
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
