import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';

/** What stands in the place of something that is asked for: that it is on its way, or why it did not come. */
export const NotYet = ({ error, refetch }: { error: unknown; refetch: () => unknown }) =>
  error === null ? (
    <p className="waiting" role="status">
      {words.waiting}
    </p>
  ) : (
    <Problem error={error} retry={() => void refetch()} />
  );
