import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { experimentQuery } from '../experiments/queries.ts';
import { dayText } from '../shell/format.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { Section } from '../ui/section.tsx';
import { words } from '../words.ts';
import { ExperimentChoice } from './experiment-choice.tsx';
import { boundQuery, type DeviceDetail } from './queries.ts';
import { bindDevice, unbindDevice } from './writes.ts';

const said = words.devices.device;

function BoundRow({ deviceId, id, name, addedAt }: { deviceId: string; id: string; name: string; addedAt: string }) {
  // contributors to the experiment may take devices off it
  const mayTakeOff = useQuery(experimentQuery(id)).data?.capabilities.canContribute === true;
  return (
    <li>
      <div>
        <Link to="/experiments/$id" params={{ id }}>
          {name}
        </Link>
        <p className="small quiet">{said.bound(dayText(addedAt))}</p>
      </div>
      {mayTakeOff ? (
        <AskFirst
          action={said.unbind}
          label={said.unbindLabel(name)}
          question={said.unbindAsk(name)}
          consequence={said.unbindText}
          perform={() => unbindDevice(deviceId, id)}
        />
      ) : null}
    </li>
  );
}

/** Experiments that a device may publish to. */
export function BoundPanel({ device: { id, status, deviceType, capabilities } }: { device: DeviceDetail }) {
  const bound = useQuery(boundQuery(id));
  const bind = useMutation({
    mutationFn: (experimentId: string) => bindDevice(id, [experimentId]),
    onSuccess: () => sayDone(said.boundNow),
  });
  const isReady = status === 'active';
  return (
    <>
      <Section id="bound" title={said.experiments} asked={bound} empty={(list) => (list.length === 0 ? said.experimentsNone : undefined)}>
        {(list) => (
          <ul className="rows tight">
            {list.map((each) => (
              <BoundRow key={each.id} deviceId={id} {...each} />
            ))}
          </ul>
        )}
      </Section>
      {capabilities.canManage && deviceType !== 'mobile' ? (
        <section className="panel" aria-labelledby="bind">
          <h2 id="bind">{said.bind}</h2>
          {isReady ? (
            <ExperimentChoice
              without={bound.data?.map((each) => each.id) ?? []}
              action={said.bindIt}
              isBusy={bind.isPending}
              error={bind.error}
              choose={bind.mutate}
            />
          ) : (
            <p className="quiet">{said.needsCertificate}</p>
          )}
        </section>
      ) : null}
    </>
  );
}
