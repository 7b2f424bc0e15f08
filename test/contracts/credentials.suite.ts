import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CredentialIssuer } from '../../src/iot/credentials.ts';

/** What every issuer of temporary credentials must do. */
export function credentialsContract(name: string, open: () => CredentialIssuer): void {
  describe(`the ${name} temporary credentials`, () => {
    test('last one hour, are different every time, and say where they are good for', async () => {
      const issuer = open();
      const userId = randomUUID();
      const before = Date.now();
      const [first, second] = await Promise.all([issuer.issue(userId), issuer.issue(userId)]);
      for (const got of [first, second]) {
        expect(got.accessKeyId).not.toBe('');
        expect(got.secretAccessKey).not.toBe('');
        expect(got.sessionToken).not.toBe('');
        expect(got.expiration.getTime()).toBeGreaterThan(before + 3_590_000 - 10_000);
        expect(got.expiration.getTime()).toBeLessThan(Date.now() + 3_610_000);
        expect(got).toMatchObject({
          clientIdPrefix: `u-${userId}-`,
          topicPrefix: `data_ingest/v1/u/${userId}/`,
        });
      }
      expect(first.sessionToken).not.toBe(second.sessionToken);
    });

    test('only for a user id that is a UUID', async () => {
      await expect(open().issue('*')).rejects.toThrow(expect.objectContaining({ code: 'INVALID_ID' }) as unknown);
    });
  });
}
