import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  customFetch,
  fetchProtectedResource,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';

export const PROVIDERS = ['github', 'orcid'] as const;
export type ProviderName = (typeof PROVIDERS)[number];
export const isProvider = (text: string): text is ProviderName => (PROVIDERS as readonly string[]).includes(text);

export interface ProviderClient {
  clientId: string;
  clientSecret: string;
  url: string;
  apiUrl: string;
}

/** What the return of a person from a provider is checked against. Until then it is sealed in a cookie. */
export interface AuthorizationChecks {
  state: string;
  verifier: string;
  nonce: string;
}

/** Who the person is, as a provider says. */
export interface ProviderIdentity {
  accountId: string;
  name: string;
  /** Address that the provider has verified; null without one. */
  email: string | null;
  /** Whether the provider names addresses and has verified none. */
  unverified: boolean;
}

const TIMEOUT_SECONDS = 10;
const ENDPOINTS: Record<ProviderName, { issuer: string; authorize: string; token: string; scope: string }> = {
  github: {
    issuer: '/login/oauth',
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    scope: 'read:user user:email',
  },
  orcid: { issuer: '', authorize: '/oauth/authorize', token: '/oauth/token', scope: 'openid /authenticate' },
};

function configurationOf(name: ProviderName, { clientId, clientSecret, url }: ProviderClient): Configuration {
  const { issuer, authorize, token } = ENDPOINTS[name];
  const configuration = new Configuration(
    {
      issuer: `${url}${issuer}`,
      authorization_endpoint: `${url}${authorize}`,
      token_endpoint: `${url}${token}`,
      jwks_uri: `${url}/oauth/jwks`,
    },
    clientId,
    clientSecret,
    ClientSecretPost(clientSecret),
  );
  configuration.timeout = TIMEOUT_SECONDS;
  configuration[customFetch] = (target, options) => fetch(target, { ...options, redirect: 'error' });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the configuration admits http on loopback only, where there is no wire to tap
  if (url.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}

/** Makes the URL where a person signs in at a provider, with PKCE and state, and the values to check when they come back. */
export async function makeAuthorizationUrl(
  name: ProviderName,
  client: ProviderClient,
  redirectUri: string,
): Promise<{ url: string; checks: AuthorizationChecks }> {
  const checks = { state: randomState(), verifier: randomPKCECodeVerifier(), nonce: randomNonce() };
  const url = buildAuthorizationUrl(configurationOf(name, client), {
    redirect_uri: redirectUri,
    scope: ENDPOINTS[name].scope,
    state: checks.state,
    code_challenge: await calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
    ...(name === 'orcid' ? { nonce: checks.nonce } : {}),
  });
  return { url: url.href, checks };
}

const GithubUser = z.object({ id: z.number().int(), login: z.string(), name: z.string().nullish() });
const GithubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));
const OrcidRecord = z.object({
  person: z.object({
    emails: z
      .object({
        email: z.array(z.object({ email: z.string(), primary: z.boolean().nullish(), verified: z.boolean().nullish() })).nullish(),
      })
      .nullish(),
    name: z
      .object({
        'credit-name': z.object({ value: z.string() }).nullish(),
        'given-names': z.object({ value: z.string() }).nullish(),
        'family-name': z.object({ value: z.string() }).nullish(),
      })
      .nullish(),
  }),
});
const ORCID = /^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$/;

interface NamedAddress {
  email: string;
  primary?: boolean | null | undefined;
  verified?: boolean | null | undefined;
}

function addressOf(addresses: readonly NamedAddress[]): Pick<ProviderIdentity, 'email' | 'unverified'> {
  const proven = addresses.filter(({ verified }) => verified === true);
  const chosen = proven.find(({ primary }) => primary === true) ?? proven[0];
  return { email: chosen?.email ?? null, unverified: addresses.length > 0 && proven.length === 0 };
}

async function read<T>(configuration: Configuration, token: string, url: string, shape: z.ZodType<T>): Promise<T> {
  const headers = new Headers({ accept: 'application/json', 'user-agent': 'fieldlake' });
  const response = await fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers);
  if (!response.ok) throw new Error(`the provider answered ${response.status}`);
  return shape.parse(await response.json());
}

/**
 * Ends a sign-in at a provider: exchanges the code once and asks who the person is. The provider's tokens are dropped afterwards. Throws when state, code, PKCE
 * or the identity token do not fit, or the provider does not answer.
 */
export async function identify(
  name: ProviderName,
  client: ProviderClient,
  answer: { url: URL; checks: AuthorizationChecks },
): Promise<ProviderIdentity> {
  const configuration = configurationOf(name, client);
  const { state, verifier, nonce } = answer.checks;
  const tokens = await authorizationCodeGrant(configuration, answer.url, {
    expectedState: state,
    pkceCodeVerifier: verifier,
    ...(name === 'orcid' ? { expectedNonce: nonce, idTokenExpected: true } : {}),
  });
  if (name === 'github') {
    const [user, emails] = await Promise.all([
      read(configuration, tokens.access_token, `${client.apiUrl}/user`, GithubUser),
      read(configuration, tokens.access_token, `${client.apiUrl}/user/emails`, GithubEmails),
    ]);
    return { accountId: String(user.id), name: user.name?.trim() || user.login, ...addressOf(emails) };
  }
  const accountId = tokens.claims()?.sub ?? '';
  if (!ORCID.test(accountId)) throw new Error('the provider names no ORCID iD');
  const { person } = await read(configuration, tokens.access_token, `${client.apiUrl}/${accountId}/record`, OrcidRecord);
  const full = [person.name?.['given-names']?.value, person.name?.['family-name']?.value].filter((part) => part !== undefined).join(' ');
  return {
    accountId,
    name: person.name?.['credit-name']?.value ?? (full === '' ? accountId : full),
    ...addressOf(person.emails?.email ?? []),
  };
}
