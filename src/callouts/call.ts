/** Calls to addresses that somebody else named: only to public hosts, never redirected, bounded in time and in what is read. */
import { lookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { awaitOrAbort } from '../waiting.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';

/** Why a call brought no answer that counts. */
export type CallFailure =
  'address-refused' | 'not-resolved' | 'timeout' | 'connection-failed' | 'tls-failed' | 'redirect-refused' | 'refused-by-endpoint';

export interface CallOutcome {
  /** Null when there was no answer. */
  statusCode: number | null;
  /** Null when it was accepted (2xx). */
  failure: CallFailure | null;
  milliseconds: number;
}

export interface CallOptions {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Time for everything together: resolving, connecting, sending, the answer. */
  timeoutMs: number;
  /** Allows calls to this machine, also without TLS; for tests and laptops. */
  allowLoopback: boolean;
  /** Gives the call up: it rejects, and there is no outcome. */
  signal?: AbortSignal;
  /** Addresses of a host name; the system's resolver unless given. */
  resolve?: (host: string) => Promise<readonly string[]>;
}

const MOST_READ = 65_536;

class Refused extends Error {
  readonly failure: CallFailure;

  constructor(failure: CallFailure) {
    super(failure);
    this.failure = failure;
  }
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

const CONTROL_OR_SPACE = /[\0-\x20\x7f]/;

/** What is wrong with a URL before anything is resolved; null when it may be called. */
export function findUrlProblem(text: string, allowLoopback: boolean): string | null {
  // the URL parser drops these characters, so that the kept URL would differ from the sent one: https://url.spec.whatwg.org/#concept-basic-url-parser
  if (CONTROL_OR_SPACE.test(text)) return 'may not hold spaces, line breaks or control characters';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) return 'must be a URL such as https://example.org/hooks';
  const host = bare(url.hostname);
  const isHere = isLoopbackAddress(host) || host === 'localhost';
  if (url.protocol !== 'https:' && !(allowLoopback && url.protocol === 'http:' && isHere)) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'may not hold a user name or password';
  if (url.hash !== '') return 'may not have a fragment';
  if (isIP(host) !== 0 && !isPublicAddress(host) && !(allowLoopback && isLoopbackAddress(host)))
    return 'may not be a private, loopback, link-local or reserved address';
  return null;
}

const systemResolve = async (host: string): Promise<string[]> => (await lookup(host, { all: true })).map(({ address }) => address);

/** Chooses the one address to connect to. Refuses a name when any of its addresses may not be called. */
async function chooseAddress(host: string, { allowLoopback, resolve = systemResolve }: CallOptions): Promise<string> {
  const addresses =
    isIP(host) === 0
      ? await resolve(host).catch(() => {
          throw new Refused('not-resolved');
        })
      : [host];
  const [first] = addresses;
  if (first === undefined) throw new Refused('not-resolved');
  if (!addresses.every((address) => isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address))))
    throw new Refused('address-refused');
  // IPv4 first: more hosts lack a route for IPv6 than for IPv4
  return addresses.find((address) => isIP(address) === 4) ?? first;
}

/** Reads and drops an answer so that the connection ends cleanly, but stops after `MOST_READ` bytes. */
async function drain(answer: IncomingMessage): Promise<void> {
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > MOST_READ) break;
  }
  answer.destroy();
}

const send = (url: URL, address: string, { headers, body }: CallOptions, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const family = isIP(address);
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      {
        method: 'POST',
        agent: false,
        signal,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        // the name is not resolved again: the connection goes to the address that was checked
        lookup: (_host, options, done) => {
          if (options.all) done(null, [{ address, family }]);
          else done(null, address, family);
        },
      },
      resolve,
    );
    request.on('error', reject);
    request.end(body);
  });

const failureOf = (error: unknown): CallFailure => {
  if (error instanceof Refused) return error.failure;
  const code = String((error as { code?: unknown }).code);
  return /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code) ? 'tls-failed' : 'connection-failed';
};

function settle(statusCode: number): CallFailure | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? 'redirect-refused' : 'refused-by-endpoint';
}

/** Posts a body once. Whatever goes wrong becomes an outcome; only `signal` makes the call reject. */
export async function callOut(target: string, options: CallOptions): Promise<CallOutcome> {
  const start = performance.now();
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const stop = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  const seen: { statusCode: number | null } = { statusCode: null };
  const outcome = (failure: CallFailure | null): CallOutcome => ({
    ...seen,
    failure,
    milliseconds: Math.round(performance.now() - start),
  });
  try {
    if (findUrlProblem(target, options.allowLoopback) !== null) throw new Refused('address-refused');
    const url = new URL(target);
    const address = await awaitOrAbort(chooseAddress(bare(url.hostname), options), stop);
    const answer = await awaitOrAbort(send(url, address, options, stop), stop);
    const statusCode = answer.statusCode ?? 0;
    seen.statusCode = statusCode;
    await awaitOrAbort(drain(answer), stop);
    return outcome(settle(statusCode));
  } catch (error) {
    options.signal?.throwIfAborted();
    return outcome(deadline.aborted ? 'timeout' : failureOf(error));
  }
}
