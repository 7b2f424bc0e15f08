import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agoText, momentText } from '../shell/format.ts';
import { InputField } from '../ui/field.tsx';
import { takeFocus } from '../ui/focus.ts';
import { type Fields, Form, SendLine } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Section } from '../ui/section.tsx';
import { words } from '../words.ts';
import { webhooksQuery, type Webhook } from './queries.ts';
import { makeWebhook, type NewWebhook } from './writes.ts';

const route = getRouteApi('/guarded/organizations/$organization/webhooks');
const said = words.organizations.webhooks;

const KINDS = [
  'experiment.created',
  'experiment.published',
  'experiment.archived',
  'experiment.deleted',
  'upload.completed',
  'upload.failed',
  'upload.withdrawn',
  'export.completed',
  'export.failed',
] as const;

/** A signing secret, which is shown once. */
export function SecretNotice({ secret, note = null }: { secret: string; note?: string | null }) {
  return (
    <div className="notice good" role="status">
      <p>{said.secret}</p>
      <p>
        <code id="webhook-secret" tabIndex={-1} ref={takeFocus}>
          {secret}
        </code>
      </p>
      {note === null ? null : <p className="small">{note}</p>}
    </div>
  );
}

/** How a webhook fares, in a line. */
export function WebhookFacts({ webhook: { enabled, disabledReason, failures, failingSince, lastSuccessAt } }: { webhook: Webhook }) {
  return (
    <p className="small quiet facts">
      <span className={`tag ${enabled ? 'good' : 'warn'}`}>{enabled ? said.states.on : said.states.off}</span>
      {disabledReason === null ? null : <span>{disabledReason}</span>}
      {failures === 0 || failingSince === null ? null : <span>{said.failing(failures, momentText(failingSince))}</span>}
      <span>{lastSuccessAt === null ? said.neverAccepted : said.success(agoText(lastSuccessAt))}</span>
    </p>
  );
}

function NewWebhookPanel({ id }: { id: string }) {
  const make = useMutation({ mutationFn: (body: NewWebhook) => makeWebhook(id, body) });
  const submit = (fields: Fields, form: HTMLFormElement) => {
    const description = fields['description']?.trim() ?? '';
    const kinds = KINDS.filter((kind) => fields[kind] !== undefined);
    make.mutate({ url: fields['url'] ?? '', kinds, ...(description === '' ? {} : { description }) }, { onSuccess: resetOnceTaken(form) });
  };
  return (
    <section className="panel" aria-labelledby="new-webhook">
      <h2 id="new-webhook">{said.new}</h2>
      <Form className="stack" send={submit}>
        <KeepWritten />
        <InputField
          id="webhook-url"
          label={said.url}
          hint={said.urlHint}
          type="url"
          name="url"
          required
          maxLength={2000}
          autoComplete="off"
        />
        <InputField id="webhook-description" label={said.description} name="description" maxLength={1000} autoComplete="off" />
        <fieldset className="kinds">
          <legend className="label">{said.kinds}</legend>
          {KINDS.map((kind) => (
            <label key={kind} className="check">
              <input type="checkbox" name={kind} />
              {said.kindNames[kind]}
            </label>
          ))}
        </fieldset>
        <SendLine sent={make} says={said.make} />
      </Form>
      {make.data === undefined ? null : <SecretNotice key={make.data.id} secret={make.data.secret} />}
    </section>
  );
}

/** The webhooks of an organization. */
export function WebhooksPage() {
  const { organization: id } = route.useParams();
  const webhooks = useQuery(webhooksQuery(id));
  return (
    <div className="organization">
      <Section id="webhooks" title={said.title} asked={webhooks} empty={(list) => (list.length === 0 ? said.none : undefined)}>
        {(list) => (
          <>
            <p className="quiet">{said.lead}</p>
            <ul className="rows">
              {list.map((webhook) => (
                <li key={webhook.id}>
                  <div>
                    <h3>
                      <Link to="/organizations/$organization/webhooks/$webhook" params={{ organization: id, webhook: webhook.id }}>
                        {webhook.url}
                      </Link>
                    </h3>
                    <p className="small quiet">{webhook.description}</p>
                    <WebhookFacts webhook={webhook} />
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </Section>
      {webhooks.error === null ? <NewWebhookPanel id={id} /> : null}
    </div>
  );
}
