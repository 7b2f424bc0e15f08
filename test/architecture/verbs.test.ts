import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuleTester } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it, test } from 'vitest';
import { verbs } from '../../scripts/lint/verbs.ts';
import { VERBS } from '../../scripts/lint/words.ts';

RuleTester.describe = describe;
RuleTester.it = it;
const tester = new RuleTester({ languageOptions: { parser: tseslint.parser } });

/** A name that no verb begins, whatever the list has. */
const NOUN = 'shownThing';
if (VERBS.has('shown')) throw new Error('a participle is no verb');

const verb = { messageId: 'verb' };
const truth = { messageId: 'truth' };
tester.run('verbs', verbs, {
  valid: [
    'export function sendStream() {}',
    'export const readRequest = (text: string): number => text.length;',
    'export const isEmpty = (text: string): boolean => text === "";',
    'export function isText(value: unknown): value is string { return typeof value === "string"; }',
    'export function requireText(value: unknown): asserts value is string { if (typeof value !== "string") throw new Error(); }',
    'export async function endSession(): Promise<boolean> { return true; }',
    // what is not exported, is a value, or belongs to a class
    `function ${NOUN}() {}`,
    `export const ${NOUN} = 1;`,
    `export class Thing { ${NOUN}() {} }`,
    'export const sql = (label: string) => label;',
  ],
  invalid: [
    { code: `export function ${NOUN}() {}`, errors: [verb] },
    { code: `export const ${NOUN} = () => 1;`, errors: [verb] },
    { code: `export const ${NOUN} = function () { return 1; };`, errors: [verb] },
    { code: 'export const checkEmpty = (text: string): boolean => text === "";', errors: [truth] },
    { code: 'export function sendsText(value: unknown): value is string { return typeof value === "string"; }', errors: [truth] },
    { code: `export function first() {} export const ${NOUN} = (): boolean => true;`, errors: [verb, truth] },
  ],
});

test('the glossary has at most sixty words, each once, and its verbs are those of the list', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'architecture.md'), 'utf8');
  const glossary = page.split('## Glossary')[1]?.split('\n## ')[0] ?? '';
  const [verbRows = '', nounRows = ''] = glossary.split('| what it is |');
  const wordsOf = (rows: string) => [...rows.matchAll(/^\| (\w+) +\| /gm)].map(([, word = '']) => word).filter((word) => word !== 'word');
  const [known, nouns] = [wordsOf(verbRows), wordsOf(nounRows)];
  expect([known.length > 0, nouns.length > 0]).toEqual([true, true]);
  expect(known.filter((word) => !VERBS.has(word))).toEqual([]);
  expect(new Set([...known, ...nouns]).size).toBe(known.length + nouns.length);
  expect(known.length + nouns.length).toBeLessThanOrEqual(60);
});
