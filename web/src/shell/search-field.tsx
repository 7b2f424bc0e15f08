import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { words } from '../words.ts';

/** Looks for experiments from everywhere. */
export function SearchField() {
  const navigate = useNavigate();
  const isHome = useLocation({ select: ({ pathname }) => pathname === '/' });
  const asked = useSearch({ strict: false });
  // other pages search for something else
  const search = isHome ? (asked.search ?? '') : '';
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = new FormData(event.currentTarget).get('search');
    const text = typeof asked === 'string' ? asked.trim() : '';
    void navigate({ to: '/', search: text === '' ? {} : { search: text, scope: 'all' } });
  };
  return (
    <form role="search" className="top-search" onSubmit={submit}>
      <input
        key={search}
        className="input"
        type="search"
        name="search"
        defaultValue={search}
        maxLength={200}
        aria-label={words.search.label}
        placeholder={words.search.placeholder}
      />
    </form>
  );
}
