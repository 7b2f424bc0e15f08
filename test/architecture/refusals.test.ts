/** The catalogue of errors holds what the product says and a test has met, and nothing else. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorList } from '../../src/errors.ts';
import { translateErrorCode } from '../../src/http/answers/client-codes.ts';

const root = join(import.meta.dirname, '..', '..');
const textOf = (folder: string) =>
  globSync(`${folder}/**/*.ts`, { cwd: root })
    .map((name) => readFileSync(join(root, name), 'utf8'))
    .join('\n');
const keyOf = (code: string) => code.toLowerCase().replace(/_([a-z])/g, (_found, letter: string) => letter.toUpperCase());
const holds = (text: string, words: string[]) => new RegExp(`\\b(${words.join('|')})\\b`).test(text);

test('every error is thrown somewhere, and expected by a test: by its code, or by its sentence as errors.<key>().message', () => {
  const [src, tests] = [textOf('src'), textOf('test')];
  const keys = errorList.map(({ code }) => ({ code, key: keyOf(code) }));
  expect(keys.length).toBeGreaterThan(200);
  expect(keys.filter(({ key }) => !holds(src, [`errors\\.${key}`])).map(({ code }) => code)).toEqual([]);
  expect(
    keys.filter(({ code, key }) => !holds(tests, [code, translateErrorCode(code), `errors\\.${key}`])).map(({ code }) => code),
  ).toEqual([]);
});

test('the published list says a sentence of each code', () => {
  const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
  const said = new Map([...page.matchAll(/^\| \d{3} \| `([A-Z_]+)` \| (.*) \|$/gm)].map(([, code, sentence]) => [code, sentence]));
  expect([...said.keys()].sort()).toEqual(errorList.map(({ code }) => code).sort());
  expect([...said].filter(([, sentence]) => !/^\S+ .*(\.|\*reason\*)$/.test(sentence ?? ''))).toEqual([]);
  expect([...said].filter(([, sentence]) => /undefined|NaN|\$\{/.test(sentence ?? ''))).toEqual([]);
  expect(said.get('ACTION_DENIED')).toBe('You may not *action* this *type*.');
});
