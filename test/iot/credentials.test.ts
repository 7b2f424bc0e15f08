import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openTokenIssuer } from '../../src/iot/credentials.ts';
import { EMBEDDED_ARN_PREFIX } from '../../src/iot/registries/embedded.ts';
import { credentialsContract } from '../contracts/credentials.suite.ts';

const key = randomBytes(32);
const open = (more: object = {}) => openTokenIssuer({ key, arnPrefix: EMBEDDED_ARN_PREFIX, ...more });

credentialsContract('embedded', open);

test('a token verifies with its access key, until its hour is over', async () => {
  let now = Date.now();
  const issuer = open({ now: () => now });
  const userId = randomUUID();
  const { accessKeyId, sessionToken } = await issuer.issue(userId);
  expect(issuer.verify(accessKeyId, sessionToken)).toMatchObject({ userId });
  const other = await issuer.issue(userId);
  expect(issuer.verify(other.accessKeyId, sessionToken)).toBeNull();
  now += 3_601_000;
  expect(issuer.verify(accessKeyId, sessionToken)).toBeNull();
});

test('no character of a token can be changed, and another key signs nothing', async () => {
  const issuer = open();
  const { accessKeyId, sessionToken } = await issuer.issue(randomUUID());
  expect(issuer.verify(accessKeyId, sessionToken)).not.toBeNull();
  for (let at = 0; at < sessionToken.length; at++) {
    const swapped = sessionToken[at] === 'A' ? 'B' : 'A';
    const forged = sessionToken.slice(0, at) + swapped + sessionToken.slice(at + 1);
    const last = at === sessionToken.length - 1;
    if (!last || !Buffer.from(forged.slice(-43), 'base64url').equals(Buffer.from(sessionToken.slice(-43), 'base64url')))
      expect(issuer.verify(accessKeyId, forged)).toBeNull();
  }
  expect(open({ key: randomBytes(32) }).verify(accessKeyId, sessionToken)).toBeNull();
  expect(() => open({ key: randomBytes(16) })).toThrow();
});
