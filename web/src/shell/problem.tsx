import { Link } from '@tanstack/react-router';
import { ProblemError, UnreachableError } from '../../../clients/typescript/src/problem.ts';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { AuthError } from './session.ts';

/** A failure as a person reads it: what happened, and what to do. */
interface Told {
  sentence: string;
  advice: string | null;
  details: readonly string[];
  requestId: string | null;
}

/** Puts any failure into sentences. */
export function tellProblem(error: unknown): Told {
  if (error instanceof ProblemError) {
    const { status, code, message, complaints, requestId, retryAfter } = error;
    if (code === 'INVALID_ID') return { sentence: words.notFound.text, advice: null, details: [], requestId: null };
    const advice = retryAfter === null ? words.problem.advice[status] : words.problem.retryIn(Math.ceil(retryAfter));
    return {
      // the service speaks of keys there, which a browser sends none of
      sentence: code === 'UNAUTHORIZED' ? words.problem.signedOut : message,
      advice: advice ?? null,
      // one complaint is often the sentence itself
      details: complaints.filter(({ message: why }) => why !== message).map(({ path, message: why }) => `${path}: ${why}`),
      requestId: status >= 500 ? requestId : null,
    };
  }
  if (error instanceof AuthError) {
    // the sentence of any other refusal says what to do
    const advice = error.status === 429 ? (words.problem.advice[429] ?? null) : null;
    return { sentence: error.message, advice, details: [], requestId: null };
  }
  if (error instanceof UnreachableError || (error instanceof TypeError && /fetch/i.test(error.message)))
    return { sentence: words.problem.unreachable, advice: null, details: [], requestId: null };
  if (error instanceof DOMException) return { sentence: words.signIn.passkeyFailed, advice: null, details: [], requestId: null };
  return { sentence: words.problem.unexpected, advice: null, details: [], requestId: null };
}

/** Whether something is gone, was never shared, or has an address that holds no id: to ask again never helps. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 404 || error.status === 410 || error.code === 'INVALID_ID');

export interface ProblemProps {
  error: unknown;
  /** Asks again. What is missing leads home in its place. */
  retry?: () => void;
  /** What to do here after a refusal, by its code, where that is not the usual advice. */
  adviceHere?: Readonly<Record<string, string>>;
}

/** Says a failure where it happened; nothing without one. */
export function Problem({ error, retry, adviceHere = {} }: ProblemProps) {
  if (error === null || error === undefined) return null;
  const { sentence, advice: usual, details, requestId } = tellProblem(error);
  const advice = (error instanceof ProblemError ? adviceHere[error.code] : undefined) ?? usual;
  return (
    <div className="notice problem" role="alert">
      <p>{sentence}</p>
      {details.length > 0 && (
        <ul className="small">
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {advice !== null && <p className="small">{advice}</p>}
      {requestId !== null && (
        <p className="small">
          <code>{words.problem.request(requestId)}</code>
        </p>
      )}
      {retry !== undefined && (
        <p>
          {isMissing(error) ? (
            <Link to="/">{words.notFound.home}</Link>
          ) : (
            <TakeButton className="button" onClick={retry}>
              {words.retry}
            </TakeButton>
          )}
        </p>
      )}
    </div>
  );
}
