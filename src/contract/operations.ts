/** What the published document says of one operation. The edge reads it, so that each rule is said once. */
export interface Operation {
  method: string;
  /** `/api/v1/experiments/{id}`. */
  path: string;
  queryNames: readonly string[];
  successStatus: number;
}

export interface OpenApiDocument {
  openapi: string;
  info: { version: string };
  paths: Record<
    string,
    Record<
      string,
      {
        operationId?: string;
        parameters?: { name: string; in: string }[];
        responses: Record<string, unknown>;
        security?: Record<string, string[]>[];
      }
    >
  >;
}

export interface PublishedDocument {
  version: string;
  /** JSON. */
  text: Buffer;
}

export interface Operations {
  /** Finds an operation by method and express route pattern (`/api/v1/experiments/:id`). */
  find(method: string, pattern: string): Operation | undefined;
}

/** The route pattern of a path of the document: `/api/v1/experiments/:id` of `/api/v1/experiments/{id}`. */
export const printPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

export function indexOperations(document: OpenApiDocument): Operations {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], responses }]) => ({
      method: method.toUpperCase(),
      path,
      queryNames: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      successStatus: Number(Object.keys(responses).find((status) => status.startsWith('2'))),
    })),
  );
  const byPattern = new Map(operations.map((operation) => [`${operation.method} ${printPattern(operation.path)}`, operation]));
  return { find: (method, pattern) => byPattern.get(`${method} ${pattern}`) };
}
