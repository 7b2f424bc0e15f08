import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { saveFile } from '../ui/download.ts';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { describeConnection } from './connect.tsx';
import { boundQuery, type DeviceDetail } from './queries.ts';
import { issueCertificate, revokeCertificate, rotateCertificate, type Bundle } from './writes.ts';

const said = words.devices.certificate;

/** Asks before the page is left while something that is shown once is not downloaded. */
export const LeaveGuard = ({ isKept }: { isKept: boolean }) => (
  <LeaveQuestion isDirty={!isKept} title={said.leaveAsk} question={said.leaveText} leave={said.leave} stay={said.stay} />
);

const textFile = (text: string) => new Blob([text], { type: 'application/x-pem-file' });

function BundleNotice({ bundle, device }: { bundle: Bundle; device: DeviceDetail }) {
  const [isKept, setKept] = useState(false);
  const bound = useQuery(boundQuery(device.id)).data;
  const whole = () => new Blob([JSON.stringify(describeConnection(device, bound ?? [], bundle), null, 2)], { type: 'application/json' });
  const save = (file: Blob, ending: string) => {
    saveFile(file, `${device.thingName}.${ending}`);
    setKept(true);
  };
  return (
    <div className="notice good" role="status">
      <LeaveGuard isKept={isKept} />
      <p>{said.once}</p>
      {bound?.length === 0 ? <p>{said.noTopic}</p> : null}
      <p className="inline">
        <button type="button" className="button primary" onClick={() => save(whole(), 'bundle.json')}>
          {said.all}
        </button>
        <button type="button" className="button" onClick={() => save(textFile(bundle.certificatePem), 'pem')}>
          {said.certificate}
        </button>
        <button type="button" className="button" onClick={() => save(textFile(bundle.privateKey), 'key')}>
          {said.key}
        </button>
      </p>
    </div>
  );
}

/** The certificate of a device: get, replace, revoke. A new one is shown once. */
export function CertificatePanel({ device }: { device: DeviceDetail }) {
  const { id, status, certificateId, capabilities } = device;
  const [bundle, setBundle] = useState<Bundle>();
  const issue = useMutation({ mutationFn: () => issueCertificate(id), onSuccess: setBundle });
  return (
    <section className="panel" aria-labelledby="certificate">
      <h2 id="certificate">{said.title}</h2>
      <p>{said.state[status]}</p>
      {certificateId === null ? null : (
        <p className="small quiet">
          <code>{said.id(certificateId)}</code>
        </p>
      )}
      {bundle === undefined ? null : <BundleNotice key={bundle.certificateId} bundle={bundle} device={device} />}
      {capabilities.canManage ? (
        <div className="inline">
          {status === 'pending' || status === 'revoked' ? (
            <SendButton className="button primary" isSending={issue.isPending} onClick={() => issue.mutate()}>
              {said.issue}
            </SendButton>
          ) : null}
          {status === 'active' ? (
            <>
              <AskFirst
                action={said.rotate}
                question={said.rotateAsk}
                consequence={said.rotateText}
                isDangerous={false}
                perform={async () => setBundle(await rotateCertificate(id))}
              />
              <AskFirst
                action={said.revoke}
                question={said.revokeAsk}
                consequence={said.revokeText}
                perform={async () => {
                  await revokeCertificate(id);
                  setBundle(undefined);
                  sayDone(said.revoked);
                }}
              />
            </>
          ) : null}
        </div>
      ) : null}
      <Problem error={issue.error} />
    </section>
  );
}
