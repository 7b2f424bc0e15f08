import { noteCredentials } from './canaries.ts';

const plain = globalThis.fetch;

// every request of a test leaves its credentials with those that the logs are searched for
globalThis.fetch = async (input, init) => {
  const request = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  noteCredentials(request);
  const response = await plain(input, init);
  noteCredentials(response.headers);
  return response;
};
