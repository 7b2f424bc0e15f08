/** Bytes of a form that were sent, of all. */
export interface Sent {
  bytes: number;
  total: number;
}

function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.split('\r\n')) {
    const at = line.indexOf(':');
    if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim());
  }
  return headers;
}

/** Sends a form and tells how much of it has left, which `fetch` does not. Errors: TypeError when no answer came. */
export const sendCounted =
  (tell: (sent: Sent) => void) =>
  (request: Request, form: FormData): Promise<Response> =>
    new Promise((resolve, reject) => {
      const sender = new XMLHttpRequest();
      sender.open(request.method, request.url);
      // content-type names the boundary of the form, which is made when the form is sent
      for (const [name, value] of request.headers) if (name !== 'content-type') sender.setRequestHeader(name, value);
      sender.upload.onprogress = ({ loaded, total }) => tell({ bytes: loaded, total });
      sender.onload = () =>
        resolve(new Response(sender.responseText, { status: sender.status, headers: headersOf(sender.getAllResponseHeaders()) }));
      sender.onerror = () => reject(new TypeError('Failed to fetch'));
      sender.onabort = () => reject(request.signal.reason as Error);
      request.signal.addEventListener('abort', () => sender.abort(), { once: true });
      sender.send(form);
    });
