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
  method: 'GET' | 'PUT';
  key: string;
  expiresAt: Date;
  contentLength?: number;
  contentType?: string;
  sha256?: string;
  /** An id that can be used once; on PUT only. */
  once?: string;
}

/** Makes the functions of a store that sign URLs and verify them. */
export function makeSigner({ secret, baseUrl, now }: SigningOptions) {
  const signatureOf = ({ method, key, expiresAt, contentLength, contentType, sha256, once }: SignedGrant) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([method, key, expiresAt.getTime(), contentLength ?? null, contentType ?? null, sha256 ?? null, once ?? null]))
      .digest('base64url');

  const sign = (seconds: number, allowed: Omit<SignedGrant, 'expiresAt'>, headers: SignedUrl['headers'] = {}): SignedUrl => {
    requireObjectKey(allowed.key);
    const grant = { ...allowed, expiresAt: new Date(now() + seconds * 1_000) };
    const url = new URL(`${baseUrl().replace(/\/$/, '')}/${grant.key}`);
    const { method, expiresAt, contentLength, contentType, sha256, once } = grant;
    const facts = { method, expires: String(expiresAt.getTime()), length: contentLength?.toString(), type: contentType, sha256, once };
    for (const [name, value] of Object.entries(facts)) if (value !== undefined) url.searchParams.set(name, value);
    url.searchParams.set('signature', signatureOf(grant));
    return { url: url.href, headers, expiresAt };
  };

  return {
    signPut: async (key: string, { expiresInSeconds, contentLength, contentType, sha256 }: SignPut) => {
      const headers: Record<string, string> = {};
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (contentType !== undefined) headers['content-type'] = contentType;
      return sign(expiresInSeconds, { method: 'PUT', key, contentLength, contentType, sha256, once: randomUUID() }, headers);
    },
    signGet: async (key: string, { expiresInSeconds }: { expiresInSeconds: number }) => sign(expiresInSeconds, { method: 'GET', key }),
    verify: (method: string, key: string, query: URLSearchParams): SignedGrant => {
      const claimed = query.get('method');
      const length = query.get('length');
      const expires = Number(query.get('expires') ?? Number.NaN);
      if ((claimed !== 'GET' && claimed !== 'PUT') || claimed !== method || !isObjectKey(key) || !Number.isSafeInteger(expires))
        throw errors.objectUrlInvalid();
      const grant: SignedGrant = {
        method: claimed,
        key,
        expiresAt: new Date(expires),
        contentLength: length === null ? undefined : Number(length),
        contentType: query.get('type') ?? undefined,
        sha256: query.get('sha256') ?? undefined,
        once: query.get('once') ?? undefined,
      };
      const given = Buffer.from(query.get('signature') ?? '');
      const right = Buffer.from(signatureOf(grant));
      if (given.length !== right.length || !timingSafeEqual(given, right) || expires <= now()) throw errors.objectUrlInvalid();
      return grant;
    },
  };
}
