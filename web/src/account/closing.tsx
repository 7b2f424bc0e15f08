import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { words } from '../words.ts';
import { HeldList } from './held.tsx';
import { closingQuery } from './queries.ts';

const said = words.account.closing;

/** Deletes an account: shows what keeps it from being deleted, and asks before. */
export function ClosingPanel({ userId }: { userId: string }) {
  const { data, error } = useQuery(closingQuery(userId));
  const [withOwned, setWithOwned] = useState(false);
  return (
    <section className="panel" aria-labelledby="closing-title">
      <h2 id="closing-title">{said.title}</h2>
      <p>{said.text}</p>
      <Problem error={error} />
      {data === undefined || data.organizations.length + data.resources.length === 0 ? null : (
        <>
          <HeldList blockers={data} />
          <label className="check">
            <input type="checkbox" checked={withOwned} onChange={(event) => setWithOwned(event.target.checked)} />
            {said.withOwned}
          </label>
        </>
      )}
      <p>
        <AskFirst
          action={said.action}
          question={said.question}
          consequence={withOwned ? said.consequenceOwned : said.consequence}
          perform={async () => {
            await api.DELETE('/api/v1/users/{id}', { params: { path: { id: userId }, query: { deleteOwned: withOwned } } });
            // the session is over, so the whole page is loaded anew
            location.assign('/sign-in');
          }}
        />
      </p>
    </section>
  );
}
