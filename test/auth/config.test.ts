import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listPasskeyOrigins, decideRelyingPartyId, checkDestination, listTrustedOrigins } from '../../src/auth/origins.ts';
import { readConfig } from '../../src/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const read = (environment: Record<string, string>) => readConfig({ DATA_DIR: folder, ...environment });

test('a relying-party id that could never work stops the start', () => {
  expect(read({ RP_ID: 'example.org', BASE_URL: 'https://api.example.org', TRUSTED_ORIGINS: 'https://app.example.org' }).web.rpId).toBe(
    'example.org',
  );
  expect(() => read({ RP_ID: '203.0.113.9' })).toThrow(/domain name/);
  expect(() => read({ RP_ID: 'org' })).toThrow(/domain name/);
  expect(() => read({ RP_ID: 'example.org', BASE_URL: 'https://example.com' })).toThrow(/passkeys would never work/);
  expect(() => read({ RP_ID: 'example.org', BASE_URL: 'https://notexample.org' })).toThrow(/passkeys would never work/);
  expect(() => read({ RP_ID: 'api.example.org', BASE_URL: 'https://api.example.org', TRUSTED_ORIGINS: 'https://app.example.org' })).toThrow(
    /never work/,
  );
});

test('origins, providers and mail are read whole or refused', () => {
  expect(read({ TRUSTED_ORIGINS: 'https://a.example , https://b.example:8443/' }).web.trustedOrigins).toEqual([
    'https://a.example',
    'https://b.example:8443',
  ]);
  for (const bad of ['*', 'a.example', 'https://a.example/path', 'ftp://a.example', 'https://*.example'])
    expect(() => read({ TRUSTED_ORIGINS: bad }), bad).toThrow(/not an origin/);
  expect(() => read({ GITHUB_CLIENT_ID: 'x' })).toThrow(/together/);
  expect(read({ GITHUB_CLIENT_ID: 'x', GITHUB_CLIENT_SECRET: 'y' }).providers).toMatchObject({
    github: { url: 'https://github.com' },
    orcid: undefined,
  });
  expect(() => read({ ORCID_CLIENT_ID: 'x', ORCID_CLIENT_SECRET: 'y', ORCID_URL: 'http://orcid.example' })).toThrow(/https/);
  expect(() => read({ SMTP_URL: 'https://mail.example' })).toThrow(/SMTP_URL/);
  expect(() => read({ TRUST_PROXY_HOPS: 'true' })).toThrow(/TRUST_PROXY_HOPS/);
});

test('a cookie domain holds the API, and is the relying party unless another is named', () => {
  const shared = { BASE_URL: 'https://api.example.org', TRUSTED_ORIGINS: 'https://app.example.org' };
  expect(read({ ...shared, COOKIE_DOMAIN: '.Example.org' }).web).toMatchObject({ cookieDomain: 'example.org', rpId: 'example.org' });
  expect(read({ ...shared, COOKIE_DOMAIN: 'example.org', RP_ID: 'example.org' }).web.rpId).toBe('example.org');
  expect(read(shared).web).toMatchObject({ cookieDomain: undefined, rpId: undefined });
  expect(() => read({ ...shared, COOKIE_DOMAIN: 'other.org' })).toThrow(/drop every cookie/);
  expect(() => read({ COOKIE_DOMAIN: 'example.org' })).toThrow(/drop every cookie/);
});

test('the relying party and its origins never come from a request', () => {
  const site = (environment: Record<string, string>, baseUrl: string) => ({ config: read(environment), baseUrl });
  const local = site({}, 'http://127.0.0.1:3000');
  expect(decideRelyingPartyId(local)).toBe('localhost');
  expect(listPasskeyOrigins(local)).toEqual(['http://localhost:3000']);
  expect(listTrustedOrigins(local)).toContain('http://[::1]:3000');
  const deployed = site(
    { RP_ID: 'example.org', BASE_URL: 'https://api.example.org', TRUSTED_ORIGINS: 'https://app.example.org' },
    'https://api.example.org',
  );
  expect(listPasskeyOrigins(deployed)).toEqual(['https://api.example.org', 'https://app.example.org']);
  expect(listTrustedOrigins(deployed)).not.toContain('http://localhost');
  expect(checkDestination(deployed, '/x?y=1')).toBe('https://api.example.org/x?y=1');
  expect(checkDestination(deployed, 'https://app.example.org/x')).toBe('https://app.example.org/x');
  expect(checkDestination(deployed, 'https://evil.example/x')).toBeNull();
});
