// Preloaded into a server by tests: tells whoever asks at LOOP_SOCKET for how many milliseconds its event loop was held at most since the last question, and
// for how many of them its thread had a processor.
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';

const socket = process.env['LOOP_SOCKET'];
if (isMainThread && socket !== undefined) {
  // processes that the server starts are not watched
  delete process.env['LOOP_SOCKET'];
  let most = { held: 0, worked: 0 };
  let [seen, used] = [performance.now(), process.threadCpuUsage()];
  setInterval(() => {
    const [now, spent] = [performance.now(), process.threadCpuUsage(used)];
    most = { held: Math.max(most.held, now - seen), worked: Math.max(most.worked, (spent.user + spent.system) / 1_000) };
    [seen, used] = [now, process.threadCpuUsage()];
  }, 1).unref();
  createServer((_request, response) => {
    response.end(JSON.stringify(most));
    most = { held: 0, worked: 0 };
  })
    .listen(socket)
    .unref();
}
