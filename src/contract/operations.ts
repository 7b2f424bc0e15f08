/** What the published document says of one operation. The edge reads it, so that each rule is said once. */
export interface Operation {
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

/** Operations by method and route pattern: `GET /api/v1/experiments/:id`. */
export type Operations = ReadonlyMap<string, Operation>;

/** The route pattern of a path of the document: `/api/v1/experiments/:id` of `/api/v1/experiments/{id}`. */
export const printPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

export const indexOperations = (document: OpenApiDocument): Operations =>
  new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { parameters = [], responses }]) => [
        `${method.toUpperCase()} ${printPattern(path)}`,
        {
          queryNames: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
          successStatus: Number(Object.keys(responses).find((status) => status.startsWith('2'))),
        },
      ]),
    ),
  );
