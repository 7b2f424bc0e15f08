// Writes docs/errors.md from the catalogue.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorList } from '../src/errors.ts';
import { CLIENT_CODES } from '../src/http/answers/client-codes.ts';

const rows = [...errorList]
  .sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
  .map(({ status, code }) => `| ${status} | \`${code}\` |`);
const renamed = Object.entries(CLIENT_CODES).map(([ours, theirs]) => `\`${ours}\` is \`${theirs}\``);
writeFileSync(
  join(import.meta.dirname, '..', 'docs', 'errors.md'),
  `# Errors

Every failure is an RFC 9457 problem document (\`application/problem+json\`) with \`type\`, \`title\`, \`status\`, \`detail\` (a sentence for a person), \`instance\` (the request id) and
\`code\` (stable). Bad input adds \`errors\`, an array of \`{path, message}\`, at most 20, never with the submitted value. Printed from \`src/errors.ts\` by \`npm run generate\`.

Under \`/api/v1/auth\` some have the code that the client library knows: ${renamed.join(', ')}.

| status | code |
|---|---|
${rows.join('\n')}
`,
);
