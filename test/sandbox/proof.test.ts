import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const RUNTIMES = join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'runtimes');

const PYTHON = `import sys, ast, json
sys.path.insert(0, ${JSON.stringify(RUNTIMES)})
import proof
print(json.dumps([proof.keeps_to_itself(ast.parse(text), {'json', 'ctx', 'output', 'np', 'pd', 'scipy', 'json_module', 'MathSUM'}) for text in json.load(sys.stdin)]))`;
const R = `proof <- new.env(); sys.source(${JSON.stringify(join(RUNTIMES, 'proof.R'))}, envir = proof)
texts <- jsonlite::fromJSON(readLines(file('stdin'), warn = FALSE))
cat(jsonlite::toJSON(vapply(texts, function(text) proof$keeps_to_itself(parse(text = text, keep.source = FALSE), c('json', 'ctx', 'output', 'MathSUM')), TRUE)))`;

const judge = (file: string, args: readonly string[], texts: readonly string[]): boolean[] => {
  const { stdout, stderr } = spawnSync(file, args, { input: `${JSON.stringify(texts)}\n`, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as boolean[];
};

// prettier-ignore
const CASES = {
  python: {
    file: '/usr/bin/python3', args: ['-c', PYTHON],
    shared: [
      'total = 0\nfor v in json["trace"]: total += v * 2\noutput["n"] = [v / 2 for v in json["trace"]]',
      'frame = pd.DataFrame(json["rows"])\noutput["by"] = frame.groupby("plot")["spad"].mean().to_dict()',
      'import math\nfrom statistics import median\ndef half(x, by=2): return math.sqrt(x) / by\noutput["x"] = sorted([half(1)], key=lambda v: -v)',
      'fit = scipy.stats.linregress(json["x"], json["y"])\noutput["s"] = float(fit.slope)', 'try: MathSUM(1)\nexcept ValueError as e: output["e"] = str(e)',
    ],
    apart: [
      'np.mean = 1', 'np.x += 1', 'del np.mean', 'setattr(np, "mean", 1)', 'x = setattr', 'np.__dict__["mean"] = 1', 'vars(np)["mean"] = 1', 'globals()', 'MathSUM.__code__',
      'import os', 'import random', 'from numpy import random', 'from math import *', 'np.random.seed(1)', 'np.seterr(all="raise")', 'pd.options.x', 'pd.set_option("a", 1)',
      'frame.agg("to_csv")', 'frame.apply("to_csv")', 'frame.query("x")', 'frame.to_csv("/tmp/a")', 'class A: pass', 'with x: pass', '[type(x) for x in [1]]', '__builtins__["len"] = 1',
      'def f(setattr): return setattr\nsetattr(np, "mean", 1)', 'lambda: getattr(np, "mean")', 'json_module.codecs', 'f"{setattr(np, 1, 2)}"', 'async def f(): pass',
      'for np.mean in [1]: pass', 'output[(lambda: exec)()] = 1', 'import math as m\nm.pi = 3', 'match x:\n  case 1: pass', 'np.mean: int = 3', '(np.mean, y) = 1, 2',
    ],
  },
  r: {
    file: '/usr/bin/Rscript', args: ['--vanilla', '-e', R],
    shared: [
      'trace <- unlist(json$trace)\ntotal <- 0\nfor (turn in seq_len(json$rounds)) total <- total + sum((sort(trace) - 300) * 0.001)\nlist(total = total, norm = trace / 1500)',
      'd <- data.frame(y = unlist(json$y), x = unlist(json$x))\nf <- lm(y ~ x, d)\nlist(slope = unname(coef(f)[2]), r2 = summary(f)$r.squared)',
      'gg <- function(a, b = 2) a * b\noutput$s <- sapply(1:3, gg)', 'sapply(json$x, function(v) v$a + 1)', "sapply(json$x, '[[', 'a')", "Reduce('+', 1:3)", 'x <- 1:3; names(x)[2] <- "a"; x',
    ],
    apart: [
      "unlockBinding('mean', baseenv())", 'mean <<- 1', "sapply(1, 'unlink')", 'ff <- unlink; ff(1)', 'hh <- unlink; hh()', "cat('a', file = 'x')", "sapply('a', cat, file = 'x')",
      "lm(y ~ x, na = 'unlink')", "do.call('unlink', 'a')", 'options(digits = 3)', "assign('mean', 1, baseenv())", '(function(x) Sys.setenv(a = 1))()', "base::assign('x', 1)",
      'environment(mean)$x <- 1', 'body(MathSUM) <- 1', "y ~ unlink('a')", 'set.seed(1)', 'lapply(1, function(...) sapply(...))', "gg <- function(unlink) 1; unlink('a')",
      "sapply <- 1; sapply(1, 'unlink')", 'library(MASS)', "if (FALSE) unlink <- function(x) 1; unlink('z')", "attr(x, 'a') <- 1", 'function(x = options(a = 1)) x', 'x@y',
      'if (json$a) trace <- 1; trace', 'trace(x)', 'trace <- 1; trace(2)', 'f2 <- function() trace; trace <- 1', "approx(1:2, 1:2, ties = 'unlink')", "x <- 1:3; x[unlink('a')] <- 1",
      'for (unlink in 1:2) 1; unlink(2)', 'sapply(1:2, function(x) sapply(x, json$f))', "Negate('unlink')", "t.test(y ~ x, na = 'unlink')", "optim(1, 'unlink')",
      "z <- list(sapply); z[[1]](1, 'unlink')", '`<-` <- function(a, b) 1; trace <- 1; hh <- trace', 'eval(quote(unlink(1)))', "get('unlink')(1)",
    ],
  },
} as const;

for (const [language, { file, args, shared, apart }] of Object.entries(CASES))
  describe.runIf(existsSync(file))(`what the text of a macro in ${language} shows`, () => {
    it('that it keeps to itself, of usual macros', () =>
      expect(judge(file, args, shared).flatMap((fine, at) => (fine ? [] : [shared[at]]))).toEqual([]));
    it('that it may change more, of what reaches anything shared', () =>
      expect(judge(file, args, apart).flatMap((fine, at) => (fine ? [apart[at]] : []))).toEqual([]));
  });
