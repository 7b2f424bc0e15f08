import { useMutation } from '@tanstack/react-query';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';

interface CopyProps {
  /** Makes the copy under a name, and answers its id. */
  copy: (name: string) => Promise<string>;
  name: string;
  open: (id: string) => Promise<void>;
}

/** A button that makes the caller's own copy of something that they may not change. */
export function CopyButton({ copy, name, open }: CopyProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => copy((words.library.copyOf + name).slice(0, 255)),
    onSuccess: async (id) => {
      sayDone(words.library.copied);
      await open(id);
    },
  });
  return (
    <div>
      <SendButton isSending={isPending} onClick={() => mutate()}>
        {words.library.copy}
      </SendButton>
      <Problem error={error} />
    </div>
  );
}
