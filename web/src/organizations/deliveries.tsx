import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { agoText, countText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { Pages } from '../ui/pages.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { deliveriesQuery, deliveryQuery, PAGE_SIZE, type Delivery, type Webhook } from './queries.ts';
import type { DeliveriesSearch } from './search.ts';
import { repeatDelivery } from './writes.ts';

const said = words.organizations.webhooks;
const MOODS: Readonly<Record<Delivery['status'], string>> = { pending: '', delivered: 'good', failed: 'warn' };

interface DeliveryOf {
  id: string;
  webhook: Webhook;
  delivery: Delivery;
}

/** The body that was sent, and each attempt. */
function Report({ id, webhook, delivery }: DeliveryOf) {
  const { data, error } = useQuery(deliveryQuery(id, webhook.id, delivery));
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <p className="quiet">{words.waiting}</p>;
  return (
    <>
      <pre className="sent" tabIndex={0}>
        {data.payload}
      </pre>
      <ul>
        {data.log.map(({ at, statusCode, failure, milliseconds }) => {
          const outcome = failure === null ? said.accepted : said.failures[failure];
          const what = statusCode === null ? outcome : `${outcome}, ${said.answered(statusCode)}`;
          return <li key={at}>{said.attempt(momentText(at), what, countText(Math.round(milliseconds)))}</li>;
        })}
      </ul>
    </>
  );
}

function DeliveryRow({ id, webhook, delivery }: DeliveryOf) {
  const [isOpen, setOpen] = useState(false);
  const again = useMutation({ mutationFn: () => repeatDelivery(id, webhook.id, delivery.id), onSuccess: () => sayDone(said.againDone) });
  const { kind, status, attempts, createdAt, lastFailure, nextAttemptAt } = delivery;
  return (
    <li>
      <div>
        <p className="facts">
          <span>{said.kindNames[kind]}</span>
          <span className={`tag ${MOODS[status]}`}>{said.status[status]}</span>
        </p>
        <p className="small quiet facts">
          <time dateTime={createdAt} title={momentText(createdAt)}>
            {agoText(createdAt)}
          </time>
          <span>{said.attempts(attempts)}</span>
          {lastFailure === null ? null : <span>{said.failures[lastFailure]}</span>}
          {nextAttemptAt !== null && new Date(nextAttemptAt) > new Date() ? <span>{said.next(agoText(nextAttemptAt))}</span> : null}
        </p>
        <details className="small" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{said.open}</summary>
          {isOpen ? <Report id={id} webhook={webhook} delivery={delivery} /> : null}
        </details>
        <Problem error={again.error} />
      </div>
      {status !== 'pending' && webhook.enabled ? (
        <SendButton isSending={again.isPending} onClick={() => again.mutate()}>
          {said.again}
        </SendButton>
      ) : null}
    </li>
  );
}

/** What a webhook was sent, newest first. The address says which part of it is shown. */
export function DeliveriesPanel({ id, webhook, search }: { id: string; webhook: Webhook; search: DeliveriesSearch }) {
  const asked = useQuery(deliveriesQuery(id, webhook.id, search));
  const params = { organization: id, webhook: webhook.id };
  const page = search.page ?? 1;
  return (
    <>
      <nav className="choices" aria-label={said.filter}>
        {([undefined, 'pending', 'delivered', 'failed'] as const).map((status) => (
          <Link
            key={status ?? ''}
            className="choice"
            to="/organizations/$organization/webhooks/$webhook"
            params={params}
            search={status === undefined ? {} : { status }}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {said.filters[status ?? '']}
          </Link>
        ))}
      </nav>
      <Section id="deliveries" title={said.deliveries} asked={asked} empty={({ total }) => (total === 0 ? said.deliveriesNone : undefined)}>
        {({ deliveries, total }) => (
          <>
            <ul className="rows tight">
              {deliveries.map((delivery) => (
                <DeliveryRow key={delivery.id} id={id} webhook={webhook} delivery={delivery} />
              ))}
            </ul>
            <Pages
              page={page}
              pageSize={PAGE_SIZE}
              total={total}
              link={(to, text) => (
                <Link
                  className="button"
                  to="/organizations/$organization/webhooks/$webhook"
                  params={params}
                  search={{ ...search, page: to }}
                >
                  {text}
                </Link>
              )}
            />
          </>
        )}
      </Section>
    </>
  );
}
