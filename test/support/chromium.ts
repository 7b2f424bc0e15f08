import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { findOperation, noteSeen } from './operations-seen.ts';

const SCREENS = join(import.meta.dirname, '..', '..', 'build', 'screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The same engine without windows takes half the processor time: 10 s of 20 for ten questions of the console. */
const WINDOWLESS = '/usr/bin/chromium-headless-shell';
export const CHROMIUM = process.env['CHROMIUM'] ?? (existsSync(WINDOWLESS) ? WINDOWLESS : '/usr/bin/chromium');

export const SIZES = { desk: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const;
export type Size = keyof typeof SIZES;

/** The sizes at which a long way is gone: all with SOAK, else one. */
export const pickSizes = (one: Size): Size[] => (process.env['SOAK'] ? ['desk', 'phone'] : [one]);

/** A browser of a person, in which nothing may go wrong without being told. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Errors on the console, of pages and of the policy, and requests that left the machine. */
  complaints: string[];
  /** Bytes of the console's own files that came over the wire until now, compressed as they were. */
  transferred: () => number;
}

export const launchChromium = (): Promise<Browser> => {
  mkdirSync(SCREENS, { recursive: true });
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
};

const isLocal = (url: string) => /^(https?:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]|data:|blob:|about:)/.test(url);

const ID = /[\da-f]{8}-[\da-f-]{27}/g;

/** The address of a page without what differs from one experiment to the next. */
const describePlace = (url: string) => new URL(url).pathname.replaceAll(ID, '…').replace(/(?<=\/tables\/)[^/]+/, '…');

/** Opens a browser for somebody. `expects`: failures to load that a test brings about itself. */
export async function openVisitor(browser: Browser, size: Size = 'desk', expects = /^$/): Promise<Visitor> {
  const context = await browser.newContext({ viewport: SIZES[size], ...(size === 'phone' ? { hasTouch: true, isMobile: true } : {}) });
  const page = await context.newPage();
  const complaints: string[] = [];
  let bytes = 0;
  page.on('console', (message) => {
    const said = `${message.text()} ${message.location().url}`;
    if (message.type() === 'error' && !expects.test(said)) complaints.push(`console: ${said}`);
  });
  page.on('pageerror', (error) => complaints.push(`page: ${error.message}`));
  page.on('request', (request) => {
    if (!isLocal(request.url())) complaints.push(`left the machine: ${request.url()}`);
    const [, operation] = findOperation(request.method(), new URL(request.url()).pathname) ?? [];
    if (operation) noteSeen('console-seen.txt', `${operation.operationId} ${describePlace(page.url())}`);
  });
  page.on('requestfinished', (request) => {
    if (!/\/assets\//.test(request.url()) && request.resourceType() !== 'document') return;
    void request.sizes().then(
      (sizes) => (bytes += sizes.responseBodySize + sizes.responseHeadersSize),
      () => undefined,
    );
  });
  // the report says what the console's line leaves out
  await page.exposeFunction('noteViolation', (what: string) => complaints.push(`policy: ${what}`));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => noteViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample} ${event.sourceFile}`))",
  );
  return { context, page, complaints, transferred: () => bytes };
}

/** Gives the page a device that holds passkeys, one of each account, and agrees to everything. Answers what makes it forget them. */
export async function addPasskeyHolder({ context, page }: Pick<Visitor, 'context' | 'page'>): Promise<() => Promise<void>> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return async () => {
    await devtools.send('WebAuthn.clearCredentials', { authenticatorId });
  };
}

/** axe finds nothing on the page, in light and in dark; a picture of both is kept in build/screenshots. */
export async function looksRight(page: Page, name: string): Promise<void> {
  // the address is there before what React draws at it
  await page.locator('main h1').first().waitFor();
  // a question hides the page a moment before it stands there itself
  const isHidden = "document.documentElement.style.overflow === 'hidden'";
  const isAsked = "[...document.querySelectorAll('[role=dialog], [role=alertdialog]')].some((dialog) => dialog.checkVisibility())";
  await expect.poll(() => page.evaluate(`!(${isHidden}) || ${isAsked}`)).toBe(true);
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    // the schemes differ in colours alone
    const asked = scheme === 'light' ? '' : "{ runOnly: ['color-contrast'] }";
    const found = await page.evaluate(
      `axe.run(${asked}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.html).join(" | ")))`,
    );
    await page.screenshot({ path: join(SCREENS, `${name}-${scheme}.png`) });
    expect(found, `${name} in ${scheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Keeps requests to an address from the service. Answers what lets them go. */
export async function holdBack(page: Page, address: RegExp): Promise<() => void> {
  let open: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (open = resolve));
  await page.route(address, async (route) => {
    await held;
    await route.continue();
  });
  return () => open();
}

/** Writes over everything in an editor of code, by keyboard: what is filled in keeps the colours of what it replaces, as inline styles. */
export async function writeOver(editor: Locator, text: string): Promise<void> {
  await editor.focus();
  await editor.page().keyboard.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(text);
}
