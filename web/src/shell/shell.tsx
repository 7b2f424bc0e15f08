import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useRouter, useRouterState, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { words } from '../words.ts';
import { AccountMenu } from './account-menu.tsx';
import { isMissing, Problem } from './problem.tsx';
import { SearchField } from './search-field.tsx';
import { sessionQuery } from './session.ts';
import { ThemeMenu } from './theme-menu.tsx';
import { Toasts } from './toasts.tsx';
import './shell.css';

/** Moves the focus to the top of a page that was gone to, as a browser does for a new document; not from a field that somebody went into meanwhile. */
function useFocusOnArrival() {
  const main = useRef<HTMLElement>(null);
  const router = useRouter();
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const arrived = useRef(path);
  const left = useRef<Element>(null);
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', () => {
        left.current = document.activeElement;
      }),
    [router],
  );
  useEffect(() => {
    const now = document.activeElement;
    const isWriting = now !== left.current && now?.matches('input, select, textarea, [contenteditable]') === true;
    if (arrived.current !== undefined && arrived.current !== path && !isWriting) main.current?.focus({ preventScroll: true });
    arrived.current = path;
  }, [path]);
  return main;
}

function followTitle(tell: () => void): () => void {
  const observer = new MutationObserver(tell);
  observer.observe(document.head, { subtree: true, childList: true, characterData: true });
  return () => observer.disconnect();
}

/** Reads out which page has come, as a browser does for a new document. */
function PageSaid() {
  const title = useSyncExternalStore(followTitle, () => document.title);
  return (
    <p role="status" className="hidden-visually">
      {title}
    </p>
  );
}

/** Whether the browser has a network. */
function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return online;
}

/** Leads to signing in, and back to the page that is seen. */
function SignInLink() {
  const next = useLocation({ select: ({ pathname, href }) => (/^\/($|sign-in|newsletter)/.test(pathname) ? undefined : href) });
  return (
    <Link to="/sign-in" search={next === undefined ? {} : { next }}>
      {words.nav.signIn}
    </Link>
  );
}

const AT_PART = { className: 'active', 'aria-current': true } as const;

/** What is around every page. */
export function Shell() {
  const isAtExperiment = useLocation({ select: ({ pathname }) => pathname.startsWith('/experiments/') });
  const main = useFocusOnArrival();
  const online = useOnline();
  const { data: session } = useQuery(sessionQuery);
  return (
    <>
      <a className="skip" href="#main">
        {words.skip}
      </a>
      <header className="top">
        <Link to="/" className="brand">
          {words.name}
        </Link>
        <nav aria-label={words.nav.label}>
          {session ? (
            <>
              <Link to="/" activeOptions={{ exact: true, includeSearch: false }} {...(isAtExperiment ? AT_PART : {})}>
                {words.nav.experiments}
              </Link>
              <Link to="/devices">{words.nav.devices}</Link>
              <Link to="/library">{words.nav.library}</Link>
            </>
          ) : (
            <SignInLink />
          )}
          <a href="/docs/api">{words.nav.api}</a>
        </nav>
        {session ? <SearchField /> : null}
        <div className="top-end">
          <ThemeMenu />
          {session ? <AccountMenu session={session} /> : null}
        </div>
      </header>
      <div role="status" aria-live="polite">
        {online ? null : <p className="offline">{words.offline}</p>}
      </div>
      <PageSaid />
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
    </>
  );
}

export const WaitingPage = () => (
  <p className="waiting page" role="status">
    {words.waiting}
  </p>
);

export function NotFoundPage() {
  return (
    <div className="page narrow stack">
      <title>{`${words.notFound.title} · ${words.name}`}</title>
      <h1>{words.notFound.title}</h1>
      <p>{words.notFound.text}</p>
      <p>
        <Link to="/">{words.notFound.home}</Link>
      </p>
    </div>
  );
}

/** A page that failed, with what to do. */
export function ProblemPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const { title } = isMissing(error) ? words.notFound : words.problem;
  return (
    <div className="page narrow stack">
      <title>{`${title} · ${words.name}`}</title>
      <h1>{title}</h1>
      <Problem error={error} retry={retry} />
      {isMissing(error) ? null : (
        <p>
          <Link to="/">{words.notFound.home}</Link>
        </p>
      )}
    </div>
  );
}
