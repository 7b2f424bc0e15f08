/**
 * A SQL warehouse on loopback: the Thrift service that the driver speaks, protocol V8, over TLS, with markers' values and Arrow batches.
 * An engine answers the statements; faults are injected here, and everything that is left behind can be counted.
 */
import 'reflect-metadata';
import { randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { thrift as service } from '@databricks/sql';
import * as x509 from '@peculiar/x509';
import { TBinaryProtocol, TBufferedTransport } from 'thrift';
import type { Engine, EngineResult, EngineRun } from './databricks-engine.ts';
import type { WireParameter } from './databricks-text.ts';

const types = service.TCLIService_types;
const { TStatusCode, TOperationState, TOperationType, TSparkRowSetType, TProtocolVersion, TTypeId } = types;

export type Method =
  | 'OpenSession'
  | 'CloseSession'
  | 'ExecuteStatement'
  | 'GetOperationStatus'
  | 'GetResultSetMetadata'
  | 'FetchResults'
  | 'CancelOperation'
  | 'CloseOperation';

/** What happens to the next `times` calls of a method instead of, or before, what should. */
export interface Fault {
  method: Method;
  /** Calls that are let through first. */
  after?: number;
  /** 1 by default. */
  times?: number;
  how:
    | { kind: 'http'; status: number; headers?: Record<string, string> }
    /** Answered with HTTP 200 and an error inside. */
    | { kind: 'status'; message: string }
    /** Done, then the answer is cut in the middle. */
    | { kind: 'cut' }
    /** The answer is whole, but a batch in it is not. */
    | { kind: 'torn' }
    | { kind: 'slow'; ms: number }
    /** Done, then answered late. */
    | { kind: 'late'; ms: number };
}

export interface SeenStatement {
  sql: string;
  parameters: readonly WireParameter[];
  overlay: Readonly<Record<string, string>>;
  authorization: string;
}

interface Operation {
  id: string;
  session: string;
  run: EngineRun;
  state: number;
  error: string | undefined;
  result: EngineResult | undefined;
  ended: 'cancelled' | undefined;
}

interface Session {
  id: string;
  configuration: Readonly<Record<string, string>>;
  catalog: string | undefined;
}

const DAY = 86_400_000;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' };

async function certificate(): Promise<{ key: string; cert: string }> {
  const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    name: 'CN=localhost',
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { key: x509.PemConverter.encode(key, 'PRIVATE KEY'), cert: made.toString('pem') };
}

const VERSION = TProtocolVersion.SPARK_CLI_SERVICE_PROTOCOL_V8;
const ok = () => ({ statusCode: TStatusCode.SUCCESS_STATUS });
const failed = (errorMessage: string) => ({ statusCode: TStatusCode.ERROR_STATUS, errorMessage, sqlState: 'HY000' });
const handle = (id: string) => ({ guid: Buffer.from(id.replaceAll('-', ''), 'hex'), secret: Buffer.alloc(16) });
const idOf = ({ guid }: { guid: Buffer }) => guid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const TYPE_IDS: Readonly<Record<string, number>> = {
  BOOLEAN: TTypeId.BOOLEAN_TYPE,
  INT: TTypeId.INT_TYPE,
  BIGINT: TTypeId.BIGINT_TYPE,
  DOUBLE: TTypeId.DOUBLE_TYPE,
  DECIMAL: TTypeId.DECIMAL_TYPE,
  STRING: TTypeId.STRING_TYPE,
};

export class ThriftServer {
  readonly #server: Server;
  readonly #engine: Engine;
  readonly #processor: { process(input: unknown, output: unknown): void };
  readonly #sessions = new Map<string, Session>();
  readonly #operations = new Map<string, Operation>();
  readonly #faults: Required<Fault>[] = [];
  #stoppedUntil = 0;
  #stoppedHow: 'http' | 'status' = 'status';
  #authorization = '';
  /** PEM of the certificate, which is its own authority. */
  readonly authority: string;
  /** Every call, in order, by method. */
  readonly calls: string[] = [];
  readonly statements: SeenStatement[] = [];
  readonly sessionsOpened: Session[] = [];
  /** Requests that are none of a warehouse's. */
  readonly otherRequests: string[] = [];
  readonly tokenRequests: { authorization: string; form: string }[] = [];
  /** Client id and secret → access token, for the token endpoint. */
  principals: Readonly<Record<string, string>> = {};
  /** What the token endpoint answers to everybody; undefined while it works. */
  tokenStatus: number | undefined;
  /** Bearer tokens that are let in. */
  accepted = new Set(['dapi-secret']);
  /** Rows of one answer at most, whatever the client asks for. */
  batchRows = 5_000;

  private constructor(server: Server, engine: Engine, authority: string) {
    this.#server = server;
    this.#engine = engine;
    this.authority = authority;
    this.#processor = new service.TCLIService.Processor(this.#service());
  }

  static async start(engine: Engine): Promise<ThriftServer> {
    const { key, cert } = await certificate();
    const server = createServer({ key, cert });
    const made = new ThriftServer(server, engine, cert);
    server.on('request', (request, response) => void made.#answer(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Operations that run, or whose results are kept: neither closed nor cancelled, in a session that is open. */
  get left(): number {
    return [...this.#operations.values()].filter(({ ended }) => ended === undefined).length;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  count(method: Method): number {
    return this.calls.filter((name) => name === method).length;
  }

  inject(fault: Fault): void {
    this.#faults.push({ after: 0, times: 1, ...fault });
  }

  /** Faults that have not happened yet. */
  get pendingFaults(): number {
    return this.#faults.length;
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  /** Every session dies, with what ran in it, as after a night. */
  async expireSessions(): Promise<void> {
    for (const id of this.#sessions.keys()) await this.#endSession(id);
  }

  /** The warehouse is stopped, and starts: sessions can be opened, and every statement is refused for a while. */
  async stopFor(ms: number, how: 'http' | 'status'): Promise<void> {
    await this.expireSessions();
    this.#stoppedUntil = performance.now() + ms;
    this.#stoppedHow = how;
  }

  async close(): Promise<void> {
    await this.expireSessions();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (request.url === '/oidc/v1/token') return this.#token(request, body, response);
    if (request.method !== 'POST' || request.url !== '/sql/1.0/warehouses/test') {
      this.otherRequests.push(`${request.method} ${request.url}`);
      return void response.writeHead(404).end();
    }
    const authorization = request.headers.authorization ?? '';
    if (!this.accepted.has(authorization.replace(/^Bearer /, ''))) return void response.writeHead(403).end();
    this.#authorization = authorization;
    const method = await new Promise<string>((resolve) => {
      TBufferedTransport.receiver((transport) => resolve(new TBinaryProtocol(transport).readMessageBegin().fname), 0)(body);
    });
    this.calls.push(method);
    const fault = this.#fault(method)?.how;
    if (fault?.kind === 'http') return void response.writeHead(fault.status, fault.headers ?? {}).end();
    if (fault?.kind === 'slow') await sleep(fault.ms);
    if (method === 'ExecuteStatement' && performance.now() < this.#stoppedUntil && this.#stoppedHow === 'http')
      return void response
        .writeHead(503, { 'x-thriftserver-error-message': 'TEMPORARILY_UNAVAILABLE: Cluster 0101-020304-abc is temporarily unavailable.' })
        .end();
    this.#pending = fault?.kind === 'status' || fault?.kind === 'torn' ? fault : undefined;
    const bytes = await this.#process(body);
    if (fault?.kind === 'late') await sleep(fault.ms);
    response.writeHead(200, { 'content-type': 'application/x-thrift', 'content-length': bytes.length });
    if (fault?.kind === 'cut') {
      response.write(bytes.subarray(0, bytes.length / 2));
      await sleep(20);
      response.destroy();
    } else response.end(bytes);
  }

  /** The fault of the call that is being processed; set and read without waiting in between. */
  #pending: { kind: 'status'; message: string } | { kind: 'torn' } | undefined;

  #fault(method: string): Required<Fault> | undefined {
    const fault = this.#faults.find((each) => each.method === method);
    if (!fault) return undefined;
    if (fault.after > 0) {
      fault.after -= 1;
      return undefined;
    }
    fault.times -= 1;
    if (fault.times === 0) this.#faults.splice(this.#faults.indexOf(fault), 1);
    return fault;
  }

  #process(body: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      TBufferedTransport.receiver((transport) => {
        const output = new TBinaryProtocol(new TBufferedTransport(undefined, resolve));
        this.#processor.process(new TBinaryProtocol(transport), output);
      }, 0)(body);
    });
  }

  #token(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const authorization = request.headers.authorization ?? '';
    const form = body.toString('utf8');
    this.tokenRequests.push({ authorization, form });
    if (this.tokenStatus !== undefined) return void response.writeHead(this.tokenStatus).end();
    const token = this.principals[Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8')];
    if (token === undefined || new URLSearchParams(form).get('grant_type') !== 'client_credentials')
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 }));
  }

  async #endSession(id: string): Promise<void> {
    this.#sessions.delete(id);
    for (const operation of [...this.#operations.values()].filter(({ session }) => session === id)) {
      this.#operations.delete(operation.id);
      await operation.run.stop();
    }
  }

  /** Methods of the service. They are called while `process` runs, so that a fault that was set just before is this very call's. */
  #service() {
    type Answer = Record<string, unknown>;
    const method =
      (work: (request: any, torn: boolean) => Answer | Promise<Answer>) =>
      (request: any, done: (error: Error | null, answer?: Answer) => void): void => {
        const fault = this.#pending;
        const answer =
          fault?.kind === 'status'
            ? { status: failed(fault.message), serverProtocolVersion: VERSION }
            : work(request, fault?.kind === 'torn');
        void Promise.resolve(answer).then(
          (given) => done(null, given),
          (error: Error) => done(error),
        );
      };
    const ofOperation = (work: (operation: Operation, request: any, torn: boolean) => Answer | Promise<Answer>) =>
      method((request, torn) => {
        const operation = this.#operations.get(idOf(request.operationHandle.operationId));
        if (operation) return work(operation, request, torn);
        return {
          status: { statusCode: TStatusCode.INVALID_HANDLE_STATUS, errorMessage: 'RESOURCE_DOES_NOT_EXIST: Command does not exist.' },
        };
      });
    return {
      OpenSession: method((request) => this.#openSession(request)),
      CloseSession: method(async (request) => {
        await this.#endSession(idOf(request.sessionHandle.sessionId));
        return { status: ok() };
      }),
      ExecuteStatement: method((request) => this.#execute(request)),
      GetOperationStatus: ofOperation(({ state, error }) => ({
        status: ok(),
        operationState: state,
        hasResultSet: true,
        errorMessage: error,
        displayMessage: error,
      })),
      GetResultSetMetadata: ofOperation((operation) => this.#metadata(operation)),
      FetchResults: ofOperation((operation, request, torn) =>
        this.#fetch(operation, Math.min(request.maxRows.toNumber(), this.batchRows), torn),
      ),
      CancelOperation: ofOperation(async (operation) => {
        operation.ended = 'cancelled';
        operation.state = TOperationState.CANCELED_STATE;
        await operation.run.stop();
        return { status: ok() };
      }),
      CloseOperation: ofOperation(async (operation) => {
        this.#operations.delete(operation.id);
        await operation.run.stop();
        return { status: ok() };
      }),
    };
  }

  #openSession(request: any) {
    const id = randomUUID();
    const session = { id, configuration: { ...request.configuration }, catalog: request.initialNamespace?.catalogName };
    this.#sessions.set(id, session);
    this.sessionsOpened.push(session);
    return {
      status: ok(),
      serverProtocolVersion: VERSION,
      sessionHandle: { sessionId: handle(id) },
      initialNamespace: request.initialNamespace,
      canUseMultipleCatalogs: true,
    };
  }

  #execute(request: any) {
    const session = idOf(request.sessionHandle.sessionId);
    if (!this.#sessions.has(session)) return { status: failed(`Invalid SessionHandle: SessionHandle [${session}]`) };
    if (performance.now() < this.#stoppedUntil)
      return {
        status: failed(`requirement failed: Session handle: SessionHandle [${session}] has not been initialized or had already closed.`),
      };
    if (request.runAsync !== true || request.getDirectResults || request.canDownloadResult === true || !request.canReadArrowResult)
      return { status: failed('This server only runs statements without waiting, and answers in Arrow batches of its own.') };
    const parameters = (request.parameters ?? []).map((each: any): WireParameter => ({
      type: each.type ?? undefined,
      value: each.value?.stringValue ?? undefined,
    }));
    const sql = String(request.statement);
    this.statements.push({ sql, parameters, overlay: { ...request.confOverlay }, authorization: this.#authorization });
    const run = this.#engine.start(sql, parameters);
    const operation: Operation = {
      id: randomUUID(),
      session,
      run,
      state: TOperationState.RUNNING_STATE,
      error: undefined,
      result: undefined,
      ended: undefined,
    };
    this.#operations.set(operation.id, operation);
    run.result.then(
      (result) => {
        operation.result = result;
        if (operation.ended === undefined) operation.state = TOperationState.FINISHED_STATE;
      },
      (error: Error) => {
        operation.error = `org.apache.spark.sql.AnalysisException: ${error.message}`;
        if (operation.ended === undefined) operation.state = TOperationState.ERROR_STATE;
      },
    );
    return {
      status: ok(),
      operationHandle: { operationId: handle(operation.id), operationType: TOperationType.EXECUTE_STATEMENT, hasResultSet: true },
    };
  }

  #metadata(operation: Operation) {
    if (!operation.result) return { status: failed('The operation has no results.') };
    const { columns, schema } = operation.result;
    return {
      status: ok(),
      schema: {
        columns: columns.map(({ name, type, precision, scale }, at) => ({
          columnName: name,
          position: at + 1,
          typeDesc: {
            types: [
              {
                primitiveEntry: {
                  type: TYPE_IDS[type],
                  ...(precision === undefined
                    ? {}
                    : { typeQualifiers: { qualifiers: { precision: { i32Value: precision }, scale: { i32Value: scale } } } }),
                },
              },
            ],
          },
        })),
      },
      resultFormat: TSparkRowSetType.ARROW_BASED_SET,
      lz4Compressed: false,
      arrowSchema: schema,
    };
  }

  async #fetch(operation: Operation, most: number, torn: boolean) {
    if (!operation.result || operation.ended) return { status: failed('The operation has no results.') };
    try {
      const batch = await operation.result.next(most);
      const bytes = batch && torn ? batch.bytes.subarray(0, batch.bytes.length / 2) : batch?.bytes;
      return {
        status: ok(),
        hasMoreRows: batch !== null && batch.rows === most,
        results: {
          startRowOffset: 0,
          rows: [],
          arrowBatches: batch ? [{ batch: bytes, rowCount: batch.rows }] : [],
        },
      };
    } catch (error) {
      return { status: failed(`org.apache.spark.SparkException: ${(error as Error).message}`) };
    }
  }
}
