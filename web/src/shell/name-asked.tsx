import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { words } from '../words.ts';
import { sessionQuery } from './session.ts';

/** Asks who has no name yet for one: without it nobody finds them, and what they bring is of "Unknown User". */
export function NameAsked() {
  const { data: session } = useQuery(sessionQuery);
  if (session?.user.registered !== false) return null;
  return (
    <p className="notice">
      {words.home.nameless} <Link to="/account">{words.home.giveName}</Link>
    </p>
  );
}
