// Preloaded into a server by tests: tells whoever asks at LOOP_SOCKET for how many milliseconds its event loop was held at most since the last question.
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const socket = process.env['LOOP_SOCKET'];
if (isMainThread && socket !== undefined) {
  // processes that the server starts are not watched
  delete process.env['LOOP_SOCKET'];
  // a delay is counted from the last look on, so it is at most 1 ms too long
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  createServer((_request, response) => {
    response.end(String(delays.max / 1e6));
    delays.reset();
  })
    .listen(socket)
    .unref();
}
