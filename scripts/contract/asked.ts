// Headers of requests that operations look at. Which operation looks at which is found in its code (`answers.ts`). `Accept` is none of them: OpenAPI has
// readers pass over a parameter of that name, and says by the content of an answer what can be asked for.

interface Asked {
  description: string;
  schema: object;
  /** The methods with which it means something; the code that reads it serves others too. */
  methods: readonly string[];
}

const text = { type: 'string' };

/** What each of them means, by its name. */
export const ASKED: Readonly<Record<string, Asked>> = {
  'Idempotency-Key': {
    description:
      'Any text of yours that is new for each change, such as a UUID. For 24 hours the same request with the same key makes nothing more and is answered as the first was.',
    schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
    methods: ['post'],
  },
  'If-Match': {
    description:
      'The ETag that you read: what has changed since is left as it is, and the answer is 412. Left out, any version is changed.',
    schema: text,
    methods: ['patch', 'put', 'delete', 'post'],
  },
  'If-None-Match': {
    description: 'The ETag that you have: where it is still the one, the answer is 304 without a body.',
    schema: text,
    methods: ['get'],
  },
  'If-Range': {
    description: 'The ETag of the part that you have: where it is no longer the one, `Range` is passed over and the whole is sent.',
    schema: text,
    methods: ['get'],
  },
  Prefer: {
    description: '`count=exact` counts the list to its end in `X-Total-Count`, which otherwise ends at 10,000.',
    schema: text,
    methods: ['get'],
  },
  Range: {
    description: 'The bytes to send, as `bytes=0-999`, `bytes=1000-` or `bytes=-500`; anything else is sent the whole.',
    schema: text,
    methods: ['get'],
  },
};
