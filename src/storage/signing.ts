/** Signs the URLs of the folder store, and reads them again. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { errors } from '../errors.ts';
import { isObjectKey, requireObjectKey, type SignedUrl, type SignPut } from './objects.ts';

export interface SigningOptions {
  /** HMAC key of the signed URLs; at least 32 bytes. */
  secret: Buffer;
  /** The base of signed URLs, such as `http://127.0.0.1:3000/objects`; the key follows. */
  baseUrl: () => string;
  now: () => number;
}

/** What a signed URL allows, as the HTTP layer reads it from the URL. */
export interface SignedGrant {
  key: string;
  expiresAt: Date;
  contentLength?: number;
  contentType?: string;
  sha256?: string;
  /** An id that can be used once. */
  once: string;
}

/** Makes the functions of a store that sign URLs and verify them. */
export function makeSigner({ secret, baseUrl, now }: SigningOptions) {
  const signatureOf = ({ key, expiresAt, contentLength, contentType, sha256, once }: SignedGrant) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['PUT', key, expiresAt.getTime(), contentLength ?? null, contentType ?? null, sha256 ?? null, once]))
      .digest('base64url');

  return {
    signPut: async (key: string, { expiresInSeconds, contentLength, contentType, sha256 }: SignPut): Promise<SignedUrl> => {
      requireObjectKey(key);
      const headers: Record<string, string> = {};
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (contentType !== undefined) headers['content-type'] = contentType;
      const expiresAt = new Date(now() + expiresInSeconds * 1_000);
      const once = randomUUID();
      const url = new URL(`${baseUrl().replace(/\/$/, '')}/${key}`);
      const facts = { expires: String(expiresAt.getTime()), length: contentLength?.toString(), type: contentType, sha256, once };
      for (const [name, value] of Object.entries(facts)) if (value !== undefined) url.searchParams.set(name, value);
      url.searchParams.set('signature', signatureOf({ key, expiresAt, contentLength, contentType, sha256, once }));
      return { url: url.href, headers, expiresAt };
    },
    verify: (key: string, query: URLSearchParams): SignedGrant => {
      const length = query.get('length');
      const expires = Number(query.get('expires') ?? Number.NaN);
      if (!isObjectKey(key) || !Number.isSafeInteger(expires)) throw errors.objectUrlInvalid();
      const grant: SignedGrant = {
        key,
        expiresAt: new Date(expires),
        contentLength: length === null ? undefined : Number(length),
        contentType: query.get('type') ?? undefined,
        sha256: query.get('sha256') ?? undefined,
        once: query.get('once') ?? '',
      };
      const given = Buffer.from(query.get('signature') ?? '');
      const right = Buffer.from(signatureOf(grant));
      if (given.length !== right.length || !timingSafeEqual(given, right) || expires <= now()) throw errors.objectUrlInvalid();
      return grant;
    },
  };
}
