import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { findLastError } from '../ui/last-error.ts';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { DeliveriesPanel } from './deliveries.tsx';
import { renewOrganization, webhookQuery, type Webhook } from './queries.ts';
import { SecretNotice, WebhookFacts } from './webhooks.tsx';
import { removeWebhook, rotateSecret, switchWebhook, testWebhook } from './writes.ts';

const route = getRouteApi('/guarded/organizations/$organization/webhooks/$webhook');
const said = words.organizations.webhooks;

function WebhookTools({ id, webhook }: { id: string; webhook: Webhook }) {
  const navigate = useNavigate();
  const turn = useMutation({
    mutationFn: (isOn: boolean) => switchWebhook(id, webhook.id, isOn),
    onSuccess: (_, isOn) => sayDone(isOn ? said.switchedOn : said.switchedOff),
  });
  const test = useMutation({ mutationFn: () => testWebhook(id, webhook.id), onSuccess: () => sayDone(said.tested) });
  // the new secret is shown once, and kept here until the page is left
  const rotate = useMutation({ mutationFn: () => rotateSecret(id, webhook.id) });
  return (
    <>
      <div className="inline">
        {webhook.enabled ? (
          <SendButton className="button primary" isSending={test.isPending} onClick={() => test.mutate()}>
            {said.test}
          </SendButton>
        ) : null}
        <SendButton isSending={turn.isPending} onClick={() => turn.mutate(!webhook.enabled)}>
          {webhook.enabled ? said.off : said.on}
        </SendButton>
        <AskFirst
          action={said.rotate}
          question={said.rotateAsk}
          consequence={said.rotateText}
          isDangerous={false}
          perform={() => rotate.mutateAsync()}
        />
        <AskFirst
          action={said.remove}
          question={said.removeAsk}
          consequence={said.removeText}
          perform={async () => {
            await removeWebhook(id, webhook.id);
            await navigate({ to: '/organizations/$organization/webhooks', params: { organization: id } });
            await renewOrganization(id);
            sayDone(said.removed);
          }}
        />
      </div>
      <Problem error={findLastError(turn, test)} />
      {rotate.data === undefined ? null : (
        <SecretNotice key={rotate.data.secret} secret={rotate.data.secret} note={said.secretOld(momentText(rotate.data.oldSecretUntil))} />
      )}
    </>
  );
}

/** A webhook: what it is told of, how it fares, and what it was sent. */
export function WebhookPage() {
  const { organization: id, webhook: webhookId } = route.useParams();
  const search = route.useSearch();
  const webhook = useQuery(webhookQuery(id, webhookId));
  return (
    <div className="stack">
      <p className="small">
        <Link to="/organizations/$organization/webhooks" params={{ organization: id }}>
          {said.all}
        </Link>
      </p>
      <Section id="webhook" title={webhook.data?.url ?? said.title} asked={webhook} empty={() => undefined}>
        {(found) => (
          <>
            {found.description === null ? null : <p>{found.description}</p>}
            <p className="small quiet">{found.kinds.map((kind) => said.kindNames[kind]).join(', ')}</p>
            <WebhookFacts webhook={found} />
            <WebhookTools id={id} webhook={found} />
          </>
        )}
      </Section>
      {webhook.data === undefined ? null : <DeliveriesPanel id={id} webhook={webhook.data} search={search} />}
    </div>
  );
}
