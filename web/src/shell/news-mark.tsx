import { useQuery } from '@tanstack/react-query';
import { words } from '../words.ts';
import { hasUnseen, seenQuery } from './news-seen.ts';

/** Says that there is something new since the caller last looked. */
export function NewsMark() {
  const { data } = useQuery(seenQuery);
  return hasUnseen(data) ? <span className="tag good">{words.news.unseen}</span> : null;
}
