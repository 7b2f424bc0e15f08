import type { paths } from '../generated/api.ts';

type Json<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never;
type Operation<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method];

/** What an operation answers with success: `AnswerTo<'/api/v1/experiments', 'get'>`. Named by path, since paths do not change. */
export type AnswerTo<Path extends keyof paths, Method extends keyof paths[Path]> =
  Operation<Path, Method> extends { responses: infer Responses }
    ? { [Status in keyof Responses]: Status extends 200 | 201 | 202 ? Json<Responses[Status]> : never }[keyof Responses]
    : never;

/** The query that an operation takes. */
export type QueryOf<Path extends keyof paths, Method extends keyof paths[Path]> =
  Operation<Path, Method> extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;

/** The JSON body that an operation takes. */
export type BodyOf<Path extends keyof paths, Method extends keyof paths[Path]> =
  Operation<Path, Method> extends { requestBody?: infer Body } ? Json<NonNullable<Body>> : never;
