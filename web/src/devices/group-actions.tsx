import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { AskFirst } from '../ui/ask-first.tsx';
import { saveFile } from '../ui/download.ts';
import { words } from '../words.ts';
import { LeaveGuard } from './certificate.tsx';
import { ExperimentChoice } from './experiment-choice.tsx';
import type { GroupDetail, Member } from './queries.ts';
import { bindGroup, issueGroupCertificates, revokeGroupCertificates, rotateGroupCertificates, type GroupBundles } from './writes.ts';

const said = words.devices.group;

interface Outcome {
  deviceId: string;
  error: string | null;
}

function Outcomes({ rows, members }: { rows: readonly Outcome[]; members: readonly Member[] }) {
  const refused = rows.filter(({ error }) => error !== null);
  const nameOf = (deviceId: string) => {
    const member = members.find((each) => each.deviceId === deviceId);
    return member?.name ?? member?.serialNumber ?? said.hidden;
  };
  return (
    <div className={`notice ${refused.length === 0 ? 'good' : 'problem'}`} role="status">
      <p>{said.outcome(rows.length - refused.length, refused.length)}</p>
      <ul className="small">
        {refused.map(({ deviceId, error }) => (
          <li key={deviceId}>{said.refusal(nameOf(deviceId), error ?? '')}</li>
        ))}
      </ul>
    </div>
  );
}

/** The newest bundle of each device: those that were not made anew are still shown nowhere else. */
const withBundles = (before: GroupBundles, made: GroupBundles): GroupBundles => {
  const isNew = new Set(made.filter(({ credentials }) => credentials !== null).map(({ deviceId }) => deviceId));
  return [...before.filter(({ deviceId }) => !isNew.has(deviceId)), ...made.filter(({ deviceId }) => isNew.has(deviceId))];
};

function BundlesNotice({ bundles, name }: { bundles: GroupBundles; name: string }) {
  const [isKept, setKept] = useState(false);
  const made = bundles.flatMap(({ thingName, credentials }) => (credentials === null ? [] : [{ thingName, ...credentials }]));
  if (made.length === 0) return null;
  return (
    <div className="notice good" role="status">
      <LeaveGuard isKept={isKept} />
      <p>{words.devices.certificate.once}</p>
      <p>
        <button
          type="button"
          className="button primary"
          onClick={() => {
            saveFile(new Blob([JSON.stringify(made, null, 2)], { type: 'application/json' }), `${name}.bundles.json`);
            setKept(true);
          }}
        >
          {words.devices.certificate.all}
        </button>
      </p>
    </div>
  );
}

/** What is done to all devices of a group: certificates, and where they send. Each refusal is named. */
export function GroupActionsPanel({ group: { id, name }, members }: { group: GroupDetail; members: readonly Member[] }) {
  const [rows, setRows] = useState<readonly Outcome[]>();
  const [bundles, setBundles] = useState<GroupBundles>();
  const take = (made: GroupBundles) => {
    setRows(made);
    setBundles((before = []) => withBundles(before, made));
  };
  const bind = useMutation({ mutationFn: (experimentId: string) => bindGroup(id, [experimentId]), onSuccess: setRows });
  return (
    <section className="panel" aria-labelledby="together">
      <h2 id="together">{said.together}</h2>
      <div className="inline">
        <AskFirst
          action={said.issue}
          question={said.issueAsk}
          consequence={said.issueText}
          isDangerous={false}
          perform={async () => take(await issueGroupCertificates(id))}
        />
        <AskFirst
          action={said.rotate}
          question={said.rotateAsk}
          consequence={said.rotateText}
          perform={async () => take(await rotateGroupCertificates(id))}
        />
        <AskFirst
          action={said.revoke}
          question={said.revokeAsk}
          consequence={said.revokeText}
          perform={async () => {
            setRows(await revokeGroupCertificates(id));
            setBundles(undefined);
          }}
        />
      </div>
      <ExperimentChoice without={[]} action={said.bind} isBusy={bind.isPending} error={bind.error} choose={bind.mutate} />
      {rows === undefined ? null : <Outcomes rows={rows} members={members} />}
      {bundles === undefined ? null : (
        <BundlesNotice key={bundles.map(({ credentials }) => credentials?.certificateId).join()} bundles={bundles} name={name} />
      )}
    </section>
  );
}
