import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { errors } from '../errors.ts';
import { isUnmodified } from './answers/answers.ts';
import { allowOnly } from './methods.ts';

/** Hashes of the two style sheets that react-aria writes into a page. When one is missing here, Chromium names its hash. */
const STYLES = ["'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='", "'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='"];

// scripts and styles are files of ours, and nothing is fetched from elsewhere
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${STYLES.join(' ')}`,
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
const isEncoding = (name: string | false): name is keyof typeof ENCODINGS => name === 'br' || name === 'gzip';

/** Paths for programs: an unknown one is answered with a problem document, whoever asks. */
const PROGRAMS = /^\/(api|health|docs|objects|assets)(\/|$)|^\/openapi\.json$/;

/** True when a browser asks for a page to show: its Accept header names HTML, not just anything. */
const isNavigation = (request: Request) =>
  (request.method === 'GET' || request.method === 'HEAD') && /\btext\/html\b/i.test(request.get('accept') ?? '');

/** Sends a built file, from the copy that the browser can unpack. Browsers keep it for good, since its name changes with its content. */
function sendAsset(folder: string, request: Request<{ name: string }>, response: Response, next: NextFunction): void {
  const { name } = request.params;
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.') || /\.(br|gz)$/.test(name) || !existsSync(join(folder, name)))
    throw errors.routeNotFound();
  const accepted = request.acceptsEncodings('br', 'gzip', 'identity');
  const encoding = isEncoding(accepted) && existsSync(join(folder, name + ENCODINGS[accepted])) ? accepted : null;
  response.vary('Accept-Encoding');
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  response.setHeader('ETag', `"${name}${encoding === null ? '' : `-${encoding}`}"`);
  response.type(extname(name));
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.sendFile(
    encoding === null ? name : name + ENCODINGS[encoding],
    { root: folder, cacheControl: false, lastModified: false },
    (error) => {
      if (error) next(error);
    },
  );
}

/**
 * Makes the routes of the console: its files at `/assets`, its page at `/` and at every path that a browser navigates to and no other route takes. Old
 * addresses under `/platform` lead to the same path without it. Without a build of the console there are no routes.
 */
export function makeConsoleRoutes(folder: string): Router {
  const routes = Router({ strict: true });
  const file = join(folder, 'index.html');
  if (!existsSync(file)) return routes;
  const page = readFileSync(file);
  const tag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 22)}"`;
  const sendPage = (_request: Request, response: Response) => {
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('Cache-Control', 'no-cache');
    response.vary('Accept');
    if (!isUnmodified(response, tag)) response.type('html').send(page);
  };
  routes.use('/assets', allowOnly('GET', 'HEAD'));
  routes.get('/assets/:name', (request: Request<{ name: string }>, response, next) =>
    sendAsset(join(folder, 'assets'), request, response, next),
  );
  routes.use('/platform', allowOnly('GET', 'HEAD'), (request, response) => {
    // exactly one slash: two would name another host
    response.redirect(308, `/${request.url.replace(/^[/\\]+/, '')}`);
  });
  routes.all('/', allowOnly('GET', 'HEAD'), sendPage);
  routes.use((request, response, next) => {
    if (isNavigation(request) && !PROGRAMS.test(request.path)) sendPage(request, response);
    else next();
  });
  return routes;
}
