interface Change {
  body: string;
  /** The Idempotency-Key of what makes something. */
  key: string | null;
}

/** Changes that were sent and never answered, by their method and address: the service may have carried them out. */
const unanswered = new Map<string, Change>();

/** Whether what is stored has all that was sent. */
function holds(stored: unknown, sent: unknown): boolean {
  if (typeof stored !== 'object' || stored === null || typeof sent !== 'object' || sent === null) return stored === sent;
  if (Array.isArray(sent) && (stored as unknown[]).length !== sent.length) return false;
  return Object.entries(sent).every(([name, value]) => holds((stored as Record<string, unknown>)[name], value));
}

/** Finds the tag of what is stored, where that is what was sent before; null where somebody else changed it. */
async function findOwnTag(url: string, { body }: Change): Promise<string | null> {
  const stored = await fetch(url);
  return stored.ok && holds(await stored.json(), await new Response(body).json()) ? stored.headers.get('etag') : null;
}

/**
 * Sends a request. A change that is asked for again after its answer was lost goes under the same Idempotency-Key, is no conflict with itself, and what it
 * deleted may be gone. A form with files is sent as it is: the service knows their rows again.
 */
export async function sendOnce(request: Request): Promise<Response> {
  if (request.method === 'GET' || request.headers.get('content-type')?.startsWith('multipart/') === true) return fetch(request);
  const place = `${request.method} ${request.url}`;
  const before = unanswered.get(place);
  const body = await request.clone().text();
  const key = before?.body === body ? before.key : request.headers.get('idempotency-key');
  if (key !== null) request.headers.set('idempotency-key', key);
  const again = request.clone();
  try {
    const answer = await fetch(request);
    const tag = before !== undefined && answer.status === 412 ? await findOwnTag(request.url, before) : null;
    if (tag !== null) again.headers.set('if-match', tag);
    const last = tag === null ? answer : await fetch(again);
    // whoever is told to wait asks for the same again
    if (!last.headers.has('retry-after')) unanswered.delete(place);
    return before !== undefined && request.method === 'DELETE' && last.status === 404 ? new Response(null, { status: 204 }) : last;
  } catch (error) {
    unanswered.set(place, { body, key });
    throw error;
  }
}
