import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, LEVELS, open } from './machine.ts';
import { near } from './near.ts';

interface Example {
  language: MacroLanguage;
  level?: 'bubblewrap';
  data: unknown;
  context?: Record<string, unknown>;
  output: unknown;
  code: string;
}

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'macros.md'), 'utf8');
const examples = [...text.matchAll(/<!-- example: (.+) -->\n```\w+\n([\s\S]*?)```/g)].map(([, head, code]): Example => ({
  ...(JSON.parse(head!) as Omit<Example, 'code'>),
  code: code!,
}));
const runnable = examples.filter(({ level }) => level === undefined || LEVELS.bubblewrap.runs);

describe(`the guide for macro authors (${runnable.length} of ${examples.length} examples)`, () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open();
  });
  afterAll(async () => sandbox.close());

  it('marks every block of code as an example', () => expect(examples).toHaveLength([...text.matchAll(/^```\w+$/gm)].length));

  runnable.forEach(({ language, code, data, context, output }, index) => {
    it(`${index + 1}: ${language}`, async () => {
      const { results } = await sandbox.run(job(language, code, [], { version: String(index), items: [{ id: 'a', data, context }] }));
      expect(results[0]!.error).toBeUndefined();
      near(results[0]!.output, output, 1e-9);
    });
  });
});
