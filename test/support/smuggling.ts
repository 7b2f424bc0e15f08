/** One request whose end two servers might see in different places, or that should not pass for one at all. */
export interface Trick {
  name: string;
  /** The same request without the trick. */
  honest: string;
  raw: string;
  /** `refused`: 4xx and the connection ends. `either`: a good answer will do too, since the trick means the same to everybody. */
  answer: 'refused' | 'either';
}

/** What a smuggler hides behind a request: its answer must never be seen. */
const HIDDEN = 'GET /health/time HTTP/1.1\r\nHost: smuggled\r\n\r\n';

/** The corpus, for a POST that anybody signed in may send and that changes nothing. */
export function smugglingTricks({ host, key }: { host: string; key: string }): Trick[] {
  const json = '{"userIds":["nobody"]}';
  const start = 'POST /api/v1/users/metadata HTTP/1.1\r\n';
  const common = `x-api-key: ${key}\r\nContent-Type: application/json\r\n`;
  const post = (headers: string, body: string, first = start) => `${first}Host: ${host}\r\n${common}${headers}\r\n${body}`;
  const length = `Content-Length: ${json.length}\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const size = json.length.toString(16);
  const chunks = `${size}\r\n${json}\r\n0\r\n\r\n`;
  const byLength = post(length, json);
  const byChunks = post(chunked, chunks);
  const get = `GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const longer = `Content-Length: ${json.length + HIDDEN.length}\r\n`;
  const endChunk = `0\r\n\r\n${HIDDEN}`;

  const refused = (name: string, honest: string, raw: string): Trick => ({ name, honest, raw, answer: 'refused' });
  const either = (name: string, honest: string, raw: string): Trick => ({ name, honest, raw, answer: 'either' });
  /** A body of one chunk whose size line is written so. */
  const sized = (name: string, line: string) => refused(name, byChunks, post(chunked, `${line}\r\n${json}\r\n${endChunk}`));
  /** Chunks under a Transfer-Encoding written so, beside a length that ends before the hidden request. */
  const encoded = (name: string, header: string) => refused(name, byChunks, post(`${header}${longer}`, chunks + HIDDEN));
  /** A length written so. */
  const long = (name: string, header: string) => refused(name, byLength, post(header, json + HIDDEN));

  return [
    // both a length and chunks
    encoded('CL.TE', chunked),
    refused('TE.CL', byChunks, post(`${chunked}Content-Length: 4\r\n`, `${size}\r\n${json}\r\n${endChunk}`)),
    refused('TE.CL with the length first', byChunks, post(`Content-Length: 4\r\n${chunked}`, `${size}\r\n${json}\r\n${endChunk}`)),
    refused('CL.0 beside chunks', byChunks, post(`Content-Length: 0\r\n${chunked}`, chunks + HIDDEN)),
    // encodings that one server sees and another does not
    encoded('TE: xchunked', 'Transfer-Encoding: xchunked\r\n'),
    encoded('TE: chunked, identity', 'Transfer-Encoding: chunked, identity\r\n'),
    encoded('TE: identity', 'Transfer-Encoding: identity\r\n'),
    encoded('TE: identity, chunked, identity', 'Transfer-Encoding: identity, chunked, identity\r\n'),
    encoded('TE twice, the second unknown', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n'),
    encoded('TE twice, the first unknown', 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n'),
    encoded('TE with a tab before chunked', 'Transfer-Encoding:\tchunked\r\n'),
    encoded('TE with a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n'),
    encoded('TE with a form feed', 'Transfer-Encoding: chunked\x0c\r\n'),
    encoded('TE in quotes', 'Transfer-Encoding: "chunked"\r\n'),
    encoded('TE with a space before the colon', 'Transfer-Encoding : chunked\r\n'),
    encoded('TE with a tab before the colon', 'Transfer-Encoding\t: chunked\r\n'),
    encoded('TE with a NUL in the name', 'Transfer\0-Encoding: chunked\r\n'),
    encoded('TE with a NUL in the value', 'Transfer-Encoding: chun\0ked\r\n'),
    encoded('TE behind a folded line', 'X-A: b\r\n Transfer-Encoding: chunked\r\n'),
    encoded('TE folded', 'Transfer-Encoding:\r\n chunked\r\n'),
    encoded('TE behind a bare LF', 'X-A: b\nTransfer-Encoding: chunked\r\n'),
    encoded('TE behind a bare CR', 'X-A: b\rTransfer-Encoding: chunked\r\n'),
    encoded('TE in capitals', 'TRANSFER-ENCODING: CHUNKED\r\n'),
    encoded('TE with a semicolon', 'Transfer-Encoding: chunked;q=1\r\n'),
    encoded('TE empty and a length', 'Transfer-Encoding:\r\n'),
    refused('TE: xchunked alone', byChunks, post('Transfer-Encoding: xchunked\r\n', chunks + HIDDEN)),
    refused('TE: chunked, gzip', byChunks, post('Transfer-Encoding: chunked, gzip\r\n', chunks + HIDDEN)),
    refused('chunks in HTTP/1.0 beside a length', byLength, post(`${chunked}${longer}`, chunks + HIDDEN, start.replace('1.1', '1.0'))),
    // lengths
    long('two lengths', `${length}${longer}`),
    long('two lengths in one line', `Content-Length: ${json.length}, ${json.length + HIDDEN.length}\r\n`),
    long('the same length twice', `${length}${length}`),
    long('a length with a plus', `Content-Length: +${json.length}\r\n`),
    long('a length with a minus', `Content-Length: -${json.length}\r\n`),
    long('a length with a space in it', `Content-Length: ${String(json.length)[0]} ${String(json.length).slice(1)}\r\n`),
    long('a length in hex', `Content-Length: 0x${size}\r\n`),
    long('a length with a point', `Content-Length: ${json.length}.0\r\n`),
    long('a length with an exponent', `Content-Length: 1e1\r\n`),
    long('a length beyond 64 bits', `Content-Length: 18446744073709551630\r\n`),
    long('a length with letters behind', `Content-Length: ${json.length}abc\r\n`),
    long('an empty length', 'Content-Length:\r\n'),
    long('a length with a space before the colon', `Content-Length : ${json.length}\r\n`),
    long('a length behind a bare CR', `X-A: b\rContent-Length: ${json.length}\r\n`),
    long('a folded length', `Content-Length:\r\n ${json.length}\r\n`),
    // chunks
    sized('a chunk size with 0x', `0x${size}`),
    sized('a chunk size with a plus', `+${size}`),
    sized('a chunk size with a minus', `-${size}`),
    sized('a chunk size with a space before it', ` ${size}`),
    sized('a chunk size that is too small', '4'),
    sized('a chunk size that is too large for 64 bits', `1000000000000000${size}`),
    sized('a chunk size with an underscore', `0_${size}`),
    sized('a chunk size that is no number', 'zz'),
    sized('an empty chunk size', ''),
    sized('a chunk size with a NUL', `${size}\0`),
    sized('a chunk extension with a bare LF', `${size};a=b\nc`),
    refused('a chunk size that ends in a bare LF', byChunks, post(chunked, `${size}\n${json}\r\n${endChunk}`)),
    refused('a chunk that ends in a bare LF', byChunks, post(chunked, `${size}\r\n${json}\n${endChunk}`)),
    refused('a chunk without its line end', byChunks, post(chunked, `${size}\r\n${json}${endChunk}`)),
    refused('a bare CR behind the chunk size', byChunks, post(chunked, `${size}\r${json}\r\n${endChunk}`)),
    refused('a trailer with a space before the colon', byChunks, post(chunked, `${size}\r\n${json}\r\n0\r\nX : y\r\n\r\n${HIDDEN}`)),
    either('an extension of a chunk', byChunks, post(chunked, `${size};a=b\r\n${json}\r\n0\r\n\r\n`)),
    either('a chunk size with zeros before it', byChunks, post(chunked, `000${size}\r\n${json}\r\n0\r\n\r\n`)),
    either('a trailer that names a length', byChunks, post(chunked, `${size}\r\n${json}\r\n0\r\nContent-Length: 4\r\n\r\n`)),
    // heads
    refused('lines that end in a bare LF', get, get.replaceAll('\r\n', '\n')),
    refused('a bare CR in a value', get, get.replace('\r\n\r\n', '\r\nX-A: b\rc\r\n\r\n')),
    refused('a folded header', get, get.replace('\r\n\r\n', '\r\nX-A: b\r\n c\r\n\r\n')),
    refused('a folded header before the first', get, get.replace('Host:', ' X-A: b\r\nHost:')),
    refused('a NUL in a value', get, get.replace('\r\n\r\n', '\r\nX-A: b\0c\r\n\r\n')),
    refused('a NUL in a name', get, get.replace('\r\n\r\n', '\r\nX\0A: b\r\n\r\n')),
    refused('a header without a name', get, get.replace('\r\n\r\n', '\r\n: b\r\n\r\n')),
    refused('a header without a colon', get, get.replace('\r\n\r\n', '\r\nX-A\r\n\r\n')),
    refused('a space before the colon of Host', get, get.replace('Host:', 'Host :')),
    refused('a space within a name', get, get.replace('\r\n\r\n', '\r\nX A: b\r\n\r\n')),
    refused('two Hosts', get, get.replace('\r\n\r\n', '\r\nHost: other\r\n\r\n')),
    refused('the same Host twice', get, get.replace('\r\n\r\n', `\r\nHost: ${host}\r\n\r\n`)),
    refused('no Host', get, get.replace(`Host: ${host}\r\n`, 'X-A: b\r\n')),
    refused('a Host with a space', get, get.replace(`Host: ${host}`, `Host: ${host} other`)),
    refused('a Host with a path', get, get.replace(`Host: ${host}`, `Host: ${host}/other`)),
    refused('a Host with an at sign', get, get.replace(`Host: ${host}`, `Host: other@${host}`)),
    either('an absolute target with another host', get, get.replace('/health/live', 'http://other.example/health/live')),
    refused('a version that does not exist', get, get.replace('HTTP/1.1', 'HTTP/1.7')),
    refused('HTTP/2.0', get, get.replace('HTTP/1.1', 'HTTP/2.0')),
    refused('HTTP/0.9', get, get.replace('HTTP/1.1', 'HTTP/0.9')),
    refused('no version', get, get.replace(' HTTP/1.1', '')),
    refused('a lower-case version', get, get.replace('HTTP/1.1', 'http/1.1')),
    refused('a tab for the first space', get, get.replace('GET ', 'GET\t')),
    either('two spaces before the version', get, get.replace(' HTTP', '  HTTP')),
    refused('a space within the target', get, get.replace('/live', '/li ve')),
    refused('a line break within the target', get, get.replace('/live', '/li\nve')),
    refused('a lower-case method', get, get.replace('GET', 'get')),
    refused('a method that does not exist', get, get.replace('GET', 'GETS')),
    refused('CONNECT', get, get.replace('GET /health/live', 'CONNECT other.example:443')),
    refused('a length beside a GET that hides a request', get, get.replace('\r\n\r\n', `\r\nContent-Length: +4\r\n\r\nbody${HIDDEN}`)),
    either(
      'an upgrade to HTTP/2',
      get,
      get.replace('\r\n\r\n', '\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n'),
    ),
    either('an upgrade to a WebSocket', get, get.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')),
    either('an empty line before the request', get, `\r\n${get}`),
  ];
}
