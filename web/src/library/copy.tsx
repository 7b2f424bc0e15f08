import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { PAGES, type Kind } from './kinds.ts';

interface CopyProps {
  /** Makes the copy under a name, and answers its id. */
  copy: (name: string) => Promise<string>;
  kind: Kind;
  name: string;
}

/** A button that makes the caller's own copy of something that they may not change. */
export function CopyButton({ copy, kind, name }: CopyProps) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => copy((words.library.copyOf + name).slice(0, 255)),
    onSuccess: async (id) => {
      sayDone(words.library.copied);
      await navigate({ to: PAGES[kind], params: { macro: id, protocol: id, workbook: id } });
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
