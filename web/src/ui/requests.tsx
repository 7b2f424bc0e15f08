import type { UseMutationResult } from '@tanstack/react-query';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { Section } from './section.tsx';
import { SendButton } from './send-button.tsx';

const said = words.requests;

interface Request {
  id: string;
  user: { firstName: string; lastName: string; email: string | null };
  message: string | null;
}

export interface Decision {
  requestId: string;
  isIn: boolean;
}

interface RequestsProps {
  title: string;
  asked: { data: readonly Request[] | undefined; error: unknown; refetch: () => unknown };
  decide: UseMutationResult<unknown, Error, Decision>;
}

/** People who ask to be let in, and the decision. */
export function RequestsSection({ title, asked, decide: { mutate, isPending, error } }: RequestsProps) {
  return (
    <Section id="requests" title={title} asked={asked} empty={(list) => (list.length === 0 ? said.none : undefined)}>
      {(list) => (
        <>
          <ul className="rows">
            {list.map(({ id: requestId, user, message }) => {
              const name = `${user.firstName} ${user.lastName}`.trim();
              return (
                <li key={requestId}>
                  <div>
                    <h3>{name}</h3>
                    <p className="small quiet">{message ?? user.email}</p>
                  </div>
                  <div className="inline">
                    <SendButton
                      className="button primary"
                      aria-label={said.approveLabel(name)}
                      isSending={isPending}
                      onClick={() => mutate({ requestId, isIn: true })}
                    >
                      {said.approve}
                    </SendButton>
                    <SendButton
                      aria-label={said.rejectLabel(name)}
                      isSending={isPending}
                      onClick={() => mutate({ requestId, isIn: false })}
                    >
                      {said.reject}
                    </SendButton>
                  </div>
                </li>
              );
            })}
          </ul>
          <Problem error={error} />
        </>
      )}
    </Section>
  );
}
