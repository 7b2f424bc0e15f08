import { words } from '../words.ts';

interface ProviderFailureProps {
  title: string;
  /** Why, as the address says it; nothing is shown without one. */
  code: string | undefined;
}

/** Says why a provider did not do what somebody was sent to it for. */
export function ProviderFailure({ title, code }: ProviderFailureProps) {
  if (code === undefined) return null;
  return (
    <div className="notice problem" role="alert">
      <h2>{title}</h2>
      <p>{words.signIn.failed[code] ?? words.signIn.failedOther}</p>
    </div>
  );
}
