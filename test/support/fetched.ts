import { noteCredentials } from './canaries.ts';

const plain = globalThis.fetch;

/** Sends a request, and leaves its credentials with those that the logs are searched for. */
const sendNoted: typeof fetch = async (input, init) => {
  const request = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  noteCredentials(request);
  const response = await plain(input, init);
  noteCredentials(response.headers);
  return response;
};

// each file imports this anew, also where the file before it in the same worker has
if (plain.name !== sendNoted.name) globalThis.fetch = sendNoted;
