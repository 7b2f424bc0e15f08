/** Gets access tokens of a service principal by OAuth 2.0 client credentials at the workspace. Every cloud has the same endpoint. */
import { request } from 'node:https';
import { errors } from '../../../errors.ts';
import { readJson } from '../../../json.ts';

export interface PrincipalOptions {
  host: string;
  port: number;
  clientId: string;
  clientSecret: string;
  /** PEM of certificate authorities to trust. Give those of Node too: the list replaces them. */
  authority?: readonly string[];
}

const MOST_BYTES = 64_000;
const TIMEOUT_MS = 15_000;
const HOUR = 3_600;

const post = ({ host, port, authority }: PrincipalOptions, headers: Record<string, string>, form: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request(
      { host, port, path: '/oidc/v1/token', method: 'POST', headers, ca: authority && [...authority], timeout: TIMEOUT_MS },
      (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MOST_BYTES) asked.destroy(new Error('The token endpoint sent too much.'));
          else chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }));
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('The token endpoint timed out.')));
    asked.on('error', reject);
    asked.end(form);
  });

/**
 * Asks the workspace for an access token of the service principal. Throws `warehouseRefused` when the workspace refuses, `warehouseUnavailable` when it cannot
 * be asked. Neither error holds the secret.
 */
export async function requestToken(options: PrincipalOptions) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope: 'all-apis' }).toString();
  const headers = {
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(options.clientId)}:${encodeURIComponent(options.clientSecret)}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(form)),
  };
  const { status, body } = await post(options, headers, form).catch((cause: unknown) => {
    throw errors.warehouseUnavailable().with({ cause });
  });
  if (status >= 500 || status === 429)
    throw errors.warehouseUnavailable().with({ cause: new Error(`The token endpoint answered ${status}.`) });
  if (status !== 200) throw errors.warehouseRefused().with({ cause: new Error(`The token endpoint answered ${status}.`) });
  const answer = parsed(body);
  if (typeof answer.access_token !== 'string' || answer.access_token === '')
    throw errors.warehouseRefused().with({ cause: new Error('The token endpoint gave no token.') });
  const seconds = typeof answer.expires_in === 'number' && answer.expires_in > 0 ? answer.expires_in : HOUR;
  return { accessToken: answer.access_token, expiresAt: new Date(Date.now() + seconds * 1000) };
}

function parsed(body: string): { access_token?: unknown; expires_in?: unknown } {
  try {
    const value = readJson(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
