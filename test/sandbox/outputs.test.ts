import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, LEVELS, open } from './machine.ts';

/** Ways to give an output that macros were written in elsewhere, and what becomes of each. */
const MACROS: [string, string, Record<string, unknown>][] = [
  ['const', 'const output = {}; output.a = 1;', { a: 1 }],
  ['const, returned', 'const output = {};\noutput.a = 1;\nreturn output;', { a: 1 }],
  ['let', 'let output = { a: 1 };', { a: 1 }],
  ['let, assigned later', 'let output; if (json.x) output = { a: 1 }; else output = { a: 2 }', { a: 2 }],
  ['var', 'var output = {}; output.a = 1', { a: 1 }],
  ['var without a value', 'var output; output.a = 1', { a: 1 }],
  ['var after its use', 'output.a = 1; var output; // the end', { a: 1 }],
  ['assigned', 'output = { a: 1 };', { a: 1 }],
  ['filled', 'output["a"] = 1', { a: 1 }],
  ['untouched', 'const unused = 1;', {}],
  ['strict', '"use strict"; const output = {}; output.a = this === undefined;', { a: true }],
  ['strict and assigned', '"use strict";\noutput = { a: 1 };', { a: 1 }],
  ['a return wins over a declared output', 'const output = { a: 1, b: 1 }; return { b: 2 };', { b: 2 }],
  ['a return wins over a filled one', 'output.a = 1; output.b = 1; return { b: 2 };', { a: 1, b: 2 }],
  ['a return without a value', 'output.a = 1; if (true) return; output.b = 1;', { a: 1 }],
  ['a function of its own', 'function f() { const output = { b: 1 }; output.c = 1; return 5; } output.a = f();', { a: 5 }],
  ['a block of its own', '{ const output = { b: 1 }; } output.a = 1;', { a: 1 }],
  ['a class', 'class output { static a = 1 } ; return { a: output.a };', { a: 1 }],
  ['messages by default', 'const output = { a: 1 }; info("x"); warning("y", output);', { a: 1, messages: { warning: ['y'] } }],
  ['a promise', 'const output = { a: 1 }; return Promise.resolve(output);', { a: 1 }],
  ['other names', 'const json = { a: 1 }; let ctx = json; output.a = ctx.a;', { a: 1 }],
];

const REFUSED: [string, string, { type: string; line?: number }][] = [
  ['a number', 'output = 5', { type: 'OutputError' }],
  ['an open condition', 'output.a = 1;\nif (json.x)', { type: 'SyntaxError' }],
  ['an open loop', 'output.a = 1;\nfor (;;)', { type: 'SyntaxError' }],
  ['an error in a declared output', 'const output = {};\noutput.b.c = 1;', { type: 'TypeError', line: 2 }],
  ['a text that does not parse', 'const output = {};\nlet = = 1;', { type: 'SyntaxError', line: 2 }],
];

const CONTAINED = (['embedded', 'bubblewrap'] as const).filter((level) => LEVELS[level].runs);

const PYTHON: [string, string, Record<string, unknown>][] = [
  ['assigned', 'output = {"a": 1}', { a: 1 }],
  ['assigned in a branch', 'output["b"] = 1\nif True:\n    output = {"a": 1}', { a: 1, b: 1 }],
  ['a return wins over an assigned output', 'output = {"a": 1}\nreturn {"b": 2}', { b: 2 }],
  ['filled', 'output["a"] = 1', { a: 1 }],
  ['untouched', 'unused = 1', {}],
  ['a function of its own', 'def f():\n    output = {"b": 1}\n    return 5\noutput["a"] = f()', { a: 5 }],
  ['a comprehension of its own', 'output["a"] = [output for output in (1, 2)]', { a: [1, 2] }],
];

describe.each(CONTAINED)('how a Python macro gives its output, %s', (level) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level, languages: ['python'] });
  });
  afterAll(async () => sandbox.close());
  const run = async (code: string) => (await sandbox.run(job('python', code, [{}, {}], { version: code }))).results;

  it.each(PYTHON)('%s', async (_, code, output) => {
    for (const result of await run(code)) {
      expect(result.error).toBeUndefined();
      expect(result.output).toEqual(output);
    }
    expect(await sandbox.check('python', code, 'anyone')).toEqual([]);
  });

  it('not a number', async () => {
    for (const result of await run('output = 5')) expect(result.error).toMatchObject({ type: 'OutputError' });
  });

  it('the place of an error in a macro that assigns it', async () => {
    for (const result of await run('output = {}\noutput["a"] = 1 / 0\n'))
      expect(result.error).toMatchObject({ type: 'ZeroDivisionError', line: 2 });
  });
});

const R: [string, string, Record<string, unknown>][] = [
  ['assigned', 'output <- list(a = 1)', { a: 1 }],
  ['assigned by =, and filled', 'output = list()\noutput$a = 1', { a: 1 }],
  ['assigned in a branch', 'output$b <- 1\nif (TRUE) output <- list(a = 1)', { a: 1, b: 1 }],
  ['an environment of its own', 'output <- new.env()\noutput$a <- 1', { a: 1 }],
  ['a return wins over an assigned output', 'output <- list(a = 1, b = 1)\nreturn(list(b = 2))', { b: 2 }],
  ['another value of that name beside a return', 'output <- 5\nlist(a = output)', { a: 5 }],
  ['filled', 'output$a <- 1', { a: 1 }],
  ['filled and returned', 'output$a <- 1\noutput', { a: 1 }],
  ['untouched', 'unused <- 1', {}],
  ['a function of its own', 'f <- function() { output <- list(b = 1); 5 }\noutput$a <- f()', { a: 5 }],
  ['an end of its own', 'on.exit(unused <- 1)\noutput$a <- 1', { a: 1 }],
];

describe.each((['bubblewrap'] as const).filter((level) => LEVELS[level].runs))('how an R macro gives its output, %s', (level) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level, languages: ['r'] });
  });
  afterAll(async () => sandbox.close());
  const run = async (code: string) => (await sandbox.run(job('r', code, [{}, {}], { version: code }))).results;

  it.each(R)('%s', async (_, code, output) => {
    for (const result of await run(code)) {
      expect(result.error).toBeUndefined();
      expect(result.output).toEqual(output);
    }
    expect(await sandbox.check('r', code, 'anyone')).toEqual([]);
  });

  it.each(['output <- 5', 'output <- data.frame(a = 1)', 'output <- list(1, 2)'])('not %s', async (code) => {
    for (const result of await run(code)) expect(result.error).toMatchObject({ type: 'OutputError' });
  });

  it('the place of an error in a macro that assigns it', async () => {
    for (const result of await run('output <- list()\noutput$a <- stop("no")\n'))
      expect(result.error).toMatchObject({ message: 'no', line: 2 });
  });
});

describe('how a JavaScript macro gives its output', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level: 'embedded', languages: ['javascript'] });
  });
  afterAll(async () => sandbox.close());
  const run = async (code: string) => (await sandbox.run(job('javascript', code, [{}, {}], { version: code }))).results;

  it.each(MACROS)('%s', async (_, code, output) => {
    for (const result of await run(code)) {
      expect(result.error).toBeUndefined();
      expect(result.output).toEqual(output);
    }
    expect(await sandbox.check('javascript', code, 'anyone')).toEqual([]);
  });

  it.each(REFUSED)('not %s', async (_, code, error) => {
    for (const result of await run(code)) expect(result.error).toMatchObject(error);
  });
});
