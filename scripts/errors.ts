// Writes docs/errors.md from the catalogue.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorList } from '../src/errors.ts';
import { PASSING_CONFLICTS } from './contract/responses.ts';
import { CLIENT_CODES } from '../src/http/answers/client-codes.ts';

/** The sentence of an entry, with the names of what it is told in each case. */
function printSentence({ sentence, about }: (typeof errorList)[number]): string {
  const names = /^\(([^)]*)\)/.exec(sentence.toString())?.[1]?.split(',').slice(0, sentence.length) ?? [];
  return about ?? sentence(...names.map((name) => `*${name.trim()}*`)).replaceAll('|', '\\|');
}

const rows = [...errorList]
  .sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
  .map((entry) => `| ${entry.status} | \`${entry.code}\` | ${printSentence(entry)} |`);
const renamed = Object.entries(CLIENT_CODES).map(([ours, theirs]) => `\`${ours}\` is \`${theirs}\``);
const passing = PASSING_CONFLICTS.map((code) => `\`${code}\``).join(', ');
writeFileSync(
  join(import.meta.dirname, '..', 'docs', 'errors.md'),
  `# Errors

Every failure is an RFC 9457 problem document (\`application/problem+json\`) with \`type\`, \`title\`, \`status\`, \`detail\` (a sentence for a person), \`instance\` (the request id) and
\`code\` (stable). Bad input adds \`errors\`, an array of \`{path, message}\`, at most 20, never with the submitted value. Printed from \`src/errors.ts\` by \`npm run generate\`.

Under \`/api/v1/auth\` some have the code that the client library knows: ${renamed.join(', ')}.

## Asking again

\`Retry-After\` says in how many seconds the same request is worth sending again. Every 429 and 503 has it, and of 409 those that pass by themselves: ${passing}.

A request whose answer was lost can be sent again: GET, PUT and DELETE as they are (a second DELETE mostly finds nothing, 404; with \`If-Match\` a second PUT is 412), a POST with the same \`Idempotency-Key\` and the same body, where the API document has that header. For 24 hours
it is answered as the first was, with \`Idempotency-Replayed: true\`; while the first still runs it is \`IDEMPOTENCY_IN_PROGRESS\`. A secret that is shown once is not shown again: \`ALREADY_DONE\`.

With an API key every answer tells the limit in \`RateLimit-Policy\` (\`q\` requests in \`w\` seconds) and what is left of it in \`RateLimit\` (\`r\` requests, all of them again after \`t\` seconds). Every answer has
\`X-Request-Id\`, under which the log of the service has the request.

## All codes

What stands *so* is told in each case.

| status | code | what it says |
|---|---|---|
${rows.join('\n')}
`,
);
