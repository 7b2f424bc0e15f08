import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWebhookSecret, signWebhook } from '../../src/auth/proofs/webhooks.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'webhooks.md'), 'utf8');
const block = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? '';
const [secret, other] = [makeWebhookSecret(), makeWebhookSecret()];
const body = '{"type":"webhook.test","name":"Ährenfeld"}';

test('the JavaScript of the page tells our calls from others', async () => {
  const source = `data:text/javascript,${encodeURIComponent(block('js'))}`;
  const { isOurs } = (await import(/* @vite-ignore */ source)) as {
    isOurs: (headers: Record<string, string>, body: string, secret: string) => boolean;
  };
  const headers = signWebhook('one', body, [other, secret]);
  expect(isOurs(headers, body, secret)).toBe(true);
  expect(isOurs(headers, `${body} `, secret)).toBe(false);
  expect(isOurs(headers, body, makeWebhookSecret())).toBe(false);
  expect(isOurs(signWebhook('one', body, [secret], Date.now() - 400_000), body, secret)).toBe(false);
});

test('the Python of the page does so too', () => {
  const headers = signWebhook('one', body, [other, secret]);
  const script = `${block('python')}
import json, sys
asked = json.load(sys.stdin)
forged = {**asked["headers"], "webhook-signature": "v1,é"}
print([is_ours(asked["headers"], text.encode(), secret) for text, secret in asked["calls"]], is_ours(forged, b"", asked["calls"][0][1]))`;
  const calls = [
    [body, secret],
    [`${body} `, secret],
    [body, makeWebhookSecret()],
  ];
  const answer = execFileSync('python3', ['-c', script], { input: JSON.stringify({ headers, calls }), encoding: 'utf8' });
  expect(answer.trim()).toBe('[True, False, False] False');
});
