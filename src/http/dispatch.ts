import type { Controller } from '@tsoa/runtime';
import type { Request, RequestHandler, Response } from 'express';
import type { Context } from '../context.ts';
import { errors } from '../errors.ts';
import { sendList } from './answers/answers.ts';
import { expressAuthentication } from './callers/authentication.ts';
import { getValueCount } from './requests/body.ts';
import { getContext } from './exchange.ts';

type AnyMethod = (...values: unknown[]) => unknown;

/** A parameter of a controller's method, as tsoa names it. */
interface Parameter {
  in: string;
  name: string;
}

interface Route {
  /** `get /api/v1/experiments/:id`. */
  operation: string;
  controller: new (ctx: Context, response: Response) => Controller;
  method: string;
  parameters: readonly Parameter[];
  successStatus: number | undefined;
}

/** Admits the caller of a guarded operation. */
export const admitCaller =
  (name: string, scopes: readonly string[]): RequestHandler =>
  async (request, response, next) => {
    (request as Request & { user?: unknown }).user = await expressAuthentication(request, name, scopes, response);
    next();
  };

/** Reads the values of a method's parameters, checked against the published document. Errors: bad input. */
function readValues(request: Request, { operation, parameters }: Route): unknown[] {
  const { contract } = getContext(request);
  const path = contract.checkTexts(operation, 'path', request.params);
  const query = contract.checkTexts(operation, 'query', request.query);
  const { body, problems } = contract.checkBody(operation, request.body, getValueCount(request));
  const all = [...path.problems, ...query.problems, ...problems];
  if (all.length > 0) throw errors.invalidInput().with({ problems: all });
  const values: Record<string, (name: string) => unknown> = {
    path: (name) => path.values[name],
    query: (name) => query.values[name],
    queries: () => query.values,
    body: () => body,
    'body-prop': (name) => (body as Record<string, unknown>)[name],
    header: (name) => request.get(name),
  };
  return parameters.map((parameter) => {
    const read = values[parameter.in];
    if (!read) throw new Error(`no parameter is read from ${parameter.in}`);
    return read(parameter.name);
  });
}

/** Runs an operation: checks what it is given, makes its controller, calls the method and sends what that answers. */
export function runOperation(route: Route): RequestHandler {
  return async (request, response) => {
    const values = readValues(request, route);
    const controller = new route.controller(getContext(request), response);
    const method = (controller as unknown as Record<string, AnyMethod>)[route.method];
    if (!method) throw new Error(`${route.operation} has no method ${route.method}`);
    const answer = await method.apply(controller, values);
    // a method that streams has sent its answer already
    if (response.headersSent) return;
    for (const [name, value] of Object.entries(controller.getHeaders())) response.set(name, value);
    response.status(controller.getStatus() ?? route.successStatus ?? 200);
    if (Array.isArray(answer)) await sendList(response, answer);
    else response.json(answer ?? null);
  };
}
