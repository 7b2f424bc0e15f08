import { useMutation } from '@tanstack/react-query';
import { sayDone } from '../shell/toasts.tsx';
import type { Draft } from './draft.ts';
import { isOutdated, useTold, type Told } from '../ui/forms.ts';

interface SavingProps<T, A> {
  draft: Draft<T>;
  /** The tag of what is stored now. */
  tag: string;
  /** Stores what was written, unless somebody else stored something since the tag was read. */
  store: (tag: string, written: T) => Promise<A>;
  says: (stored: A) => string;
  /** Asks anew for what is stored. */
  renew: () => Promise<void>;
}

/** The saving of a draft. */
export interface Saving<T, A> {
  isSaving: boolean;
  error: unknown;
  /** What was stored last; undefined before the first save. */
  stored: A | undefined;
  /** That somebody else saved while this was written. */
  told: Told | undefined;
  save: (written: T) => void;
  /** Saves over what somebody else saved, which is shown beside it. */
  saveOver: () => void;
  /** Goes back to what is stored, and says no more what went wrong. */
  drop: () => void;
}

/** Saves what is written, and tells when somebody else did so meanwhile. */
export function useSaving<T, A>({ draft, tag, store, says, renew }: SavingProps<T, A>): Saving<T, A> {
  const save = useMutation({
    mutationFn: ({ written, withTag }: { written: T; withTag: string }) => store(withTag, written),
    onSuccess: (stored, { written }) => {
      draft.settle(written);
      sayDone(says(stored));
    },
    onError: (error) => {
      if (isOutdated(error)) return renew();
    },
  });
  const told = useTold(save, tag);
  return {
    isSaving: save.isPending,
    error: save.error,
    stored: save.data,
    told: draft.isChanged ? told : undefined,
    save: (written) => save.mutate({ written, withTag: draft.tag }),
    saveOver: () => save.mutate({ written: draft.value, withTag: tag }),
    drop: () => {
      draft.drop();
      if (save.isError) save.reset();
    },
  };
}
