/** What our Thrift server uses of the `thrift` package, which brings no types. */
declare module 'thrift' {
  export interface TTransport {
    commitPosition(): void;
  }
  export interface TProtocol {
    getTransport(): TTransport;
  }
  export class TBufferedTransport implements TTransport {
    constructor(buffer: undefined, flushed: (bytes: Buffer) => void);
    static receiver(ready: (transport: TTransport, seqId: number) => void, seqId: number): (bytes: Buffer) => void;
    commitPosition(): void;
  }
  export class TBinaryProtocol implements TProtocol {
    constructor(transport: TTransport);
    readMessageBegin(): { fname: string; mtype: number; rseqid: number };
    getTransport(): TTransport;
  }
}
