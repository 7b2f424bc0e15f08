import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { dayText } from '../shell/format.ts';
import { words } from '../words.ts';
import { NEWS } from '../shell/news.ts';
import { hasUnseen, isUnseen, noteSeen, seenQuery } from '../shell/news-seen.ts';

const said = words.news;

/** What is new. Whoever opens it has seen it. */
export function NewsPage() {
  const { data: seenAt } = useQuery(seenQuery);
  const { mutate } = useMutation({ mutationFn: noteSeen });
  const isNew = hasUnseen(seenAt);
  useEffect(() => {
    if (isNew) mutate();
  }, [isNew, mutate]);
  return (
    <div className="page narrow stack">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <h1>{said.title}</h1>
      </header>
      <section className="panel" aria-label={said.title}>
        <ul className="rows">
          {NEWS.map(({ day, title, text }) => (
            <li key={title}>
              <div>
                <h2>
                  {title} {isUnseen(day, seenAt) ? <span className="tag good">{said.unseen}</span> : null}
                </h2>
                <p>{text}</p>
                <p className="small quiet">
                  <time dateTime={day}>{dayText(`${day}T12:00`)}</time>
                </p>
              </div>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
