import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { HAS_BUBBLEWRAP, job, open, titleOf } from './machine.ts';

describe.runIf(HAS_BUBBLEWRAP)(`what R has ${titleOf('bubblewrap')}`, () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level: 'bubblewrap', languages: ['r'] });
  });
  afterAll(async () => sandbox.close());

  it('a fresh scope for every item, whatever the one before did to its own', async () => {
    const code = `seen <- list(mine = exists("mine"), everywhere = exists("everywhere"), seeded = exists(".Random.seed", globalenv()),
  digits = getOption("digits"), sum = MathSUM(c(1, 2)), ctx = length(ctx), output = length(output))
mine <- 1
everywhere <<- 2
set.seed(1)
options(digits = 3)
around <- parent.env(environment())
if (json$n == 2) lockEnvironment(around, bindings = TRUE)
if (json$n == 4) { unlockBinding("ctx", around); rm(ctx, envir = around); makeActiveBinding("ctx", function() stop("spoiled"), around) }
if (json$n == 6) rm(list = ls(around, all.names = TRUE), envir = around)
if (json$n == 8) MathSUM <<- function(x) 0
output$n <- json$n
seen`;
    const data = Array.from({ length: 12 }, (_, n) => ({ n }));
    const { results } = await sandbox.run(job('r', code, data, { version: 'fresh' }));
    expect(results.flatMap(({ success }, n) => (success ? [] : [n]))).toEqual([6, 8]);
    for (const [n, { output }] of results.entries())
      if (n !== 6 && n !== 8)
        expect(output).toEqual({ mine: false, everywhere: false, seeded: false, digits: 15, sum: 3, ctx: 0, output: 0, n });
  });

  it('the place of an error also once the macro is compiled', async () => {
    const code = 'total <- 0\nfor (i in 1:50) total <- total + i\nif (json$n > 2) {\n  stop("gone")\n}\nlist(total = total)';
    const { results } = await sandbox.run(job('r', code, [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }, { n: 1 }], { version: 'place' }));
    expect(results.map(({ error }) => error?.line)).toEqual([undefined, undefined, 4, 4, undefined]);
    expect(results[4]!.output).toEqual({ total: 1275 });
  });

  it('text, numbers and shapes as JSON', async () => {
    const code = `list(text = "a\\"b\\\\c\\td\\u00e9\\u2028\\u0001", many = c("x", NA), empty = character(), none = NULL, numbers = c(0.1, 1e22, NA, Inf, 1/3),
  whole = 1:3, nothing = setNames(list(), character()), none_of_them = integer(), one = I(1L), logical = c(TRUE, NA), named = c(a = 1, b = NaN), list = list(), matrix = matrix(c(1, NA, 3, 4), 2), factor = factor(c("u", "v")),
  frame = data.frame(k = 1:2, l = c("p", NA)), date = as.Date("2024-05-01"), twice = list(a = 1, a = 2), unnamed = list(1, x = 2))`;
    const { results } = await sandbox.run(job('r', code, [{}], { version: 'json' }));
    expect(results[0]!.error).toBeUndefined();
    expect(results[0]!.output).toEqual({
      text: 'a"b\\c\tdé\u2028\u0001',
      many: ['x', null],
      empty: [],
      none: null,
      numbers: [0.1, 1e22, null, null, 1 / 3],
      whole: [1, 2, 3],
      nothing: {},
      none_of_them: [],
      one: [1],
      logical: [true, null],
      named: { a: 1, b: null },
      list: [],
      matrix: [
        [1, 3],
        [null, 4],
      ],
      factor: ['u', 'v'],
      frame: [
        { k: 1, l: 'p' },
        { k: 2, l: null },
      ],
      date: '2024-05-01',
      twice: { a: 1, 'a.1': 2 },
      unnamed: { 1: 1, x: 2 },
    });
  });
});
