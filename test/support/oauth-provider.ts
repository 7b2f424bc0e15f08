import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the provider says about whoever signs in, and how it misbehaves. */
export interface ProviderPerson {
  githubId: number;
  orcid: string;
  name: string;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

export type Fault = 'none' | 'wrong-nonce' | 'wrong-audience' | 'expired-token' | 'api-down' | 'token-error' | 'other-issuer';

export interface FakeProvider {
  url: string;
  person: ProviderPerson;
  fault: Fault;
  /** How often a code was exchanged well. */
  exchanges: number;
  /** Plays the browser at the provider: follows an authorization URL to the redirect with code and state. */
  authorize(url: string): URL;
  stop(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
};

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function idToken(key: KeyObject, claims: object): string {
  const head = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
  return `${head}.${sign('sha256', Buffer.from(head), key).toString('base64url')}`;
}

/** A provider on loopback that speaks like GitHub and like ORCID, checks PKCE, redirect URI, client and single use of codes, and can break its word. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const grants = new Map<string, { challenge: string; redirectUri: string; clientId: string; nonce: string | null }>();
  const tokens = new Set<string>();
  const provider: FakeProvider = {
    url: '',
    person: { githubId: 4711, orcid: '0000-0002-1825-0097', name: 'Josiah Carberry', emails: [] },
    fault: 'none',
    exchanges: 0,
    authorize: (text) => {
      const url = new URL(text);
      const asked = (name: string) => url.searchParams.get(name) ?? '';
      if (asked('response_type') !== 'code' || asked('code_challenge_method') !== 'S256') throw new Error('not a code flow with PKCE');
      const code = randomBytes(16).toString('hex');
      grants.set(code, {
        challenge: asked('code_challenge'),
        redirectUri: asked('redirect_uri'),
        clientId: asked('client_id'),
        nonce: url.searchParams.get('nonce'),
      });
      const back = new URL(asked('redirect_uri'));
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked('state'));
      return back;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const answer = async () => {
      const path = new URL(request.url ?? '/', provider.url).pathname;
      if (request.method === 'POST') {
        const form = await bodyOf(request);
        const code = form.get('code') ?? '';
        const grant = grants.get(code);
        grants.delete(code);
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const good =
          grant?.challenge === challenge &&
          grant.redirectUri === form.get('redirect_uri') &&
          grant.clientId === form.get('client_id') &&
          form.get('client_secret') === 'hush';
        if (!good || provider.fault === 'token-error') {
          // GitHub says it with a 200, others with a 400
          json(path.includes('access_token') ? 200 : 400, { error: 'bad_verification_code', error_description: 'The code is wrong.' });
          return;
        }
        provider.exchanges += 1;
        const token = randomBytes(16).toString('hex');
        tokens.add(token);
        if (path === '/login/oauth/access_token') {
          json(200, { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' });
          return;
        }
        const now = Math.floor(Date.now() / 1000);
        const { fault } = provider;
        const claims = {
          iss: fault === 'other-issuer' ? 'http://elsewhere.example' : provider.url,
          aud: fault === 'wrong-audience' ? 'somebody-else' : grant.clientId,
          sub: provider.person.orcid,
          iat: fault === 'expired-token' ? now - 7200 : now,
          exp: fault === 'expired-token' ? now - 3600 : now + 600,
          nonce: fault === 'wrong-nonce' ? 'another' : grant.nonce,
        };
        json(200, {
          access_token: token,
          token_type: 'bearer',
          orcid: provider.person.orcid,
          name: provider.person.name,
          id_token: idToken(keys.privateKey, claims),
        });
        return;
      }
      if (provider.fault === 'api-down' || !tokens.has((request.headers.authorization ?? '').replace(/^bearer /i, ''))) {
        json(provider.fault === 'api-down' ? 503 : 401, { message: 'no' });
        return;
      }
      const { person } = provider;
      if (path === '/api/user')
        json(200, { id: person.githubId, login: 'josiah', name: person.name, email: person.emails[0]?.email ?? null });
      else if (path === '/api/user/emails') json(200, person.emails);
      else if (path === `/public/${person.orcid}/record`)
        json(200, {
          person: {
            name: { 'given-names': { value: 'Josiah' }, 'family-name': { value: 'Carberry' }, 'credit-name': null },
            emails: { email: person.emails },
          },
        });
      else json(404, { message: path });
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

/** Settings that point a server at the fake provider. */
export const providerSettings = (provider: FakeProvider): Record<string, string> => ({
  GITHUB_CLIENT_ID: 'fieldlake-github',
  GITHUB_CLIENT_SECRET: 'hush',
  GITHUB_URL: provider.url,
  GITHUB_API_URL: `${provider.url}/api`,
  ORCID_CLIENT_ID: 'fieldlake-orcid',
  ORCID_CLIENT_SECRET: 'hush',
  ORCID_URL: provider.url,
  ORCID_API_URL: `${provider.url}/public`,
});
