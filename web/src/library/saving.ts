import { useMutation } from '@tanstack/react-query';
import { sayDone } from '../shell/toasts.tsx';
import type { Draft } from './draft.ts';
import type { Kind } from './kinds.ts';
import { isOutdated } from '../ui/forms.ts';
import { renewLibrary } from './queries.ts';

interface SavingProps<T, A> {
  kind: Kind;
  id: string;
  draft: Draft<T>;
  /** The tag of what is stored now. */
  tag: string;
  /** Stores what was written, unless somebody else stored something since the tag was read. */
  store: (tag: string, written: T) => Promise<A>;
  says: (stored: A) => string;
}

/** The saving of a draft. */
export interface Saving<T, A> {
  isSaving: boolean;
  error: unknown;
  /** What was stored last; undefined before the first save. */
  stored: A | undefined;
  /** Whether somebody else saved while this was written. */
  isBehind: boolean;
  save: (written: T) => void;
  /** Saves over what somebody else saved, after that was shown. */
  saveOver: () => void;
}

/** Saves what is written, and tells when somebody else did so meanwhile. */
export function useSaving<T, A>({ kind, id, draft, tag, store, says }: SavingProps<T, A>): Saving<T, A> {
  const save = useMutation({
    mutationFn: ({ written, withTag }: { written: T; withTag: string }) => store(withTag, written),
    onSuccess: (stored, { written }) => {
      draft.settle(written);
      sayDone(says(stored));
    },
    onError: (error) => {
      if (isOutdated(error)) void renewLibrary(kind, id);
    },
  });
  return {
    isSaving: save.isPending,
    error: save.error,
    stored: save.data,
    isBehind: draft.isChanged && draft.tag !== tag && isOutdated(save.error),
    save: (written) => save.mutate({ written, withTag: draft.tag }),
    saveOver: () => save.mutate({ written: draft.value, withTag: tag }),
  };
}
