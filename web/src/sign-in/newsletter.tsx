import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { NotFoundPage } from '../shell/shell.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';

const route = getRouteApi('/newsletter/$act');

/** Where the links of newsletter letters lead: nothing happens before the button is pressed. */
export function NewsletterPage() {
  const { act } = route.useParams();
  const { token } = route.useSearch();
  const change = useMutation({
    mutationFn: async (asked: 'confirm' | 'unsubscribe') =>
      bodyOf(api.POST(`/api/v1/newsletter/${asked}`, { params: { query: { token } } })),
  });
  if (act !== 'confirm' && act !== 'unsubscribe') return <NotFoundPage />;
  const { question, button } = words.newsletter[act];
  return (
    <div className="page narrow stack">
      <title>{`${words.newsletter.title} · ${words.name}`}</title>
      <h1>{words.newsletter.title}</h1>
      {change.data === undefined ? (
        <>
          <p>{question}</p>
          <Problem error={change.error} />
          <p>
            <SendButton className="button primary" isSending={change.isPending} onClick={() => change.mutate(act)}>
              {button}
            </SendButton>
          </p>
        </>
      ) : (
        <p role="status">{words.newsletter.states[change.data.status]}</p>
      )}
    </div>
  );
}
