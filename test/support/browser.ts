import { recordExchange } from './operations-seen.ts';
import type { TestServer } from './server.ts';
import { lettersTo, nextCode } from './outbox.ts';

/** Checks an answer against the published document, as every call of the cast is. */
async function record(request: Request, sent: string, response: Response): Promise<void> {
  const { pathname, search } = new URL(request.url);
  const contentType = response.headers.get('content-type') ?? '';
  const text = contentType.includes('json') ? await response.clone().text() : '';
  await recordExchange({ method: request.method, path: pathname + search, sent, status: response.status, contentType, text });
}

/** What of a browser matters to a server: a cookie jar, and an Origin on every request. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly baseUrl: string;
  origin: string | null;

  constructor(baseUrl: string, origin: string | null = new URL(baseUrl).origin) {
    this.baseUrl = baseUrl;
    this.origin = origin;
  }

  /** fetch with the jar and the origin; redirects are not followed. */
  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    const headers = new Headers(request.headers);
    if (this.cookies.size > 0 && !headers.has('cookie'))
      headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    if (this.origin !== null && !headers.has('origin')) headers.set('origin', this.origin);
    const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.text();
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    await record(request, body ?? '', response);
    return response;
  };

  /** Calls a path with JSON; answers status, headers and parsed body. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await this.fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }
}

/** Asks for a code, reads it from the outbox and signs in with it. */
export async function signIn(site: TestServer, address: string, browser = new Browser(site.server.baseUrl)): Promise<Browser> {
  const had = lettersTo(site, address).length;
  const sent = await browser.call('POST', '/api/v1/auth/email-otp/send-verification-otp', { email: address, type: 'sign-in' });
  if (sent.status !== 200) throw new Error(`no code: ${sent.text}`);
  const code = await nextCode(site, address, had);
  const signedIn = await browser.call('POST', '/api/v1/auth/sign-in/email-otp', { email: address, otp: code });
  if (signedIn.status !== 200) throw new Error(`not signed in: ${signedIn.text}`);
  return browser;
}
