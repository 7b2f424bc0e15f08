/** One place in a request that is wrong: a JSON Pointer into the body, `?name` of the query, or a header's name. */
export interface Complaint {
  path: string;
  message: string;
}

/** A problem document (RFC 9457) as the service writes it; what it lacks is empty. */
interface Document {
  detail?: unknown;
  message?: unknown;
  code?: unknown;
  errors?: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isComplaint = (value: unknown): value is Complaint =>
  isRecord(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';

/** Seconds that `Retry-After` asks to wait, from a number or a date; null without a readable one. */
export function retryAfter(headers: Headers, now = Date.now()): number | null {
  const said = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(said)) return Number(said);
  const at = Date.parse(said);
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1_000);
}

/** The service refused or failed. `message` is a sentence for people, `code` is for programs. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** As docs/errors.md lists them; `UNKNOWN` where the answer came from something in between. */
  readonly code: string;
  readonly complaints: readonly Complaint[];
  /** Under this the service's log has the request; null where nobody gave one. */
  readonly requestId: string | null;
  /** Seconds after which the same may be asked again; null where it was not said. */
  readonly retryAfter: number | null;

  constructor(response: Response, body: unknown) {
    const { detail, message, code, errors }: Document = isRecord(body) ? body : {};
    const sentence = typeof detail === 'string' ? detail : typeof message === 'string' ? message : undefined;
    super(sentence ?? `The service answered ${response.status}.`);
    this.status = response.status;
    this.code = typeof code === 'string' ? code : 'UNKNOWN';
    this.complaints = Array.isArray(errors) ? errors.filter(isComplaint) : [];
    this.requestId = response.headers.get('x-request-id');
    this.retryAfter = retryAfter(response.headers);
  }
}

/** No answer came: the network or the service is away. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  constructor(cause: unknown) {
    super('The service cannot be reached.', { cause });
  }
}

/** The problem that an answer holds; reads its body. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const text = await response.text().catch(() => '');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return new ProblemError(response, body);
}
