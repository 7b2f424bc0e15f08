import { useMutation, useQuery } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api, queryClient } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { newsletterQuery } from './queries.ts';

const said = words.newsletter;
const PATH = '/api/v1/newsletter/subscription';

/** Whether the newsletter comes to the address of the account. */
export function NewsletterPanel() {
  const asked = useQuery(newsletterQuery);
  const change = useMutation({
    mutationFn: async (isWanted: boolean) => bodyOf(isWanted ? api.POST(PATH) : api.DELETE(PATH)),
    onSuccess: (state) => queryClient.setQueryData(newsletterQuery.queryKey, state),
  });
  return (
    <Section id="newsletter-title" title={said.title} asked={asked} empty={() => undefined}>
      {({ status }) => {
        const isWanted = status === 'none' || status === 'unsubscribed';
        return (
          <>
            <p role="status">{said.states[status]}</p>
            <Problem error={change.error} />
            <div>
              <SendButton isSending={change.isPending} onClick={() => change.mutate(isWanted)}>
                {isWanted ? said.subscribe : said.leave}
              </SendButton>
            </div>
          </>
        );
      }}
    </Section>
  );
}
