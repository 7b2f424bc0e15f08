import { createServer, type RequestListener, type Server } from 'node:http';
import { finishClosing } from './closing.ts';
import { noticeDepartures } from './departures.ts';
import { answerUnparsed } from './unparsed.ts';

/**
 * The public HTTP/1.1 server, which does not listen yet. The head of a request has 20 s to arrive, also on a connection that has sent nothing. Bodies have
 * clocks of their own (`body-clock.ts`), since an upload may take hours. A missing Host is refused by `heads.ts`, with a problem document.
 */
export function createListener(answer: RequestListener): Server {
  const server = createServer(
    {
      // a filter of 1,000 UUIDs has 45,000 characters where its quotes and commas are encoded
      maxHeaderSize: 65_536,
      keepAliveTimeout: 65_000,
      requestTimeout: 0,
      headersTimeout: 20_000,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
    },
    answer,
  );
  answerUnparsed(server);
  noticeDepartures(server);
  finishClosing(server);
  return server;
}
