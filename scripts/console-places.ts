// node scripts/console-places.ts [--check]: prints docs/console-places.md from what the pages were seen to ask for (build/console-seen.txt, by the suites of the
// console). With --check it ends with 1 when an operation is neither asked for by a page nor explained in fixtures/console/elsewhere.yaml, or both.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs', 'console-places.md');
const MOST_PLACES = 4;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const { paths } = JSON.parse(read('src/generated/openapi.json')) as { paths: Record<string, Record<string, { operationId: string }>> };
const operations = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
const elsewhere = parse(read('fixtures/console/elsewhere.yaml')) as Record<string, string>;
const places = new Map<string, Set<string>>();
for (const line of read('build/console-seen.txt').trim().split('\n')) {
  const [operation = '', place = ''] = line.split(' ');
  places.set(operation, (places.get(operation) ?? new Set()).add(place));
}

const rows = operations.map((name) => {
  const seen = [...(places.get(name) ?? [])].sort((a, b) => a.length - b.length || a.localeCompare(b));
  const shown = seen.slice(0, MOST_PLACES).map((place) => `\`${place}\``);
  return `| \`${name}\` | ${shown.length > 0 ? shown.join(', ') : (elsewhere[name] ?? '**not yet**')} |`;
});
const text = `# Where the console does what

Printed by \`node scripts/console-places.ts\` from what was seen to be asked for at its pages by the suites of the console, whose own calls are among it.
Of many pages four are named.

| operation | pages, or why there is none |
|---|---|
${rows.join('\n')}
`;

const wrong = [
  ...operations.filter((name) => !places.has(name) && !(name in elsewhere)).map((name) => `${name} is on no page, and nothing says why`),
  ...Object.keys(elsewhere)
    .filter((name) => places.has(name) || !operations.includes(name))
    .map((name) => `${name} stands in fixtures/console/elsewhere.yaml, and needs not`),
];
if (process.argv.includes('--check')) {
  for (const line of wrong) process.stderr.write(`${line}\n`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} else writeFileSync(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
