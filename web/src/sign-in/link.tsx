import { useMutation } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { renewSession } from '../shell/session.ts';
import { words } from '../words.ts';

/** The token of a link stands behind `#`, which browsers send to no server. A program that opens the address before the person does spends nothing. */
const tokenIn = (hash: string) => /^#?([\w-]{43})$/.exec(hash)?.[1];

/** Spends a link that signs in, once the page is really looked at. */
export function LinkPage() {
  const router = useRouter();
  const token = tokenIn(location.hash);
  const { mutate, error } = useMutation({
    mutationFn: async (spent: string) => bodyOf(api.POST('/api/v1/auth/sign-in/link', { body: { token: spent } })),
    onSuccess: async ({ target }) => {
      await renewSession();
      router.history.replace(target);
    },
  });
  useEffect(() => {
    if (token === undefined) return undefined;
    const spend = () => mutate(token);
    if (!('prerendering' in document) || document.prerendering !== true) {
      // a page that is thrown away at once, as in strict mode, spends nothing
      const timer = setTimeout(spend, 0);
      return () => clearTimeout(timer);
    }
    document.addEventListener('prerenderingchange', spend, { once: true });
    return () => document.removeEventListener('prerenderingchange', spend);
  }, [token, mutate]);
  return (
    <div className="page narrow stack">
      <title>{`${words.link.title} · ${words.name}`}</title>
      <h1>{words.link.title}</h1>
      {token === undefined ? <p>{words.link.missing}</p> : error === null ? <p role="status">{words.link.waiting}</p> : null}
      <Problem error={error} adviceHere={words.link.advice} />
      {token === undefined || error !== null ? (
        <p>
          <Link to="/sign-in">{words.link.otherwise}</Link>
        </p>
      ) : null}
    </div>
  );
}
