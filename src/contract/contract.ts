import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Problem } from '../errors.ts';
import { placeKinds } from './kinds.ts';
import { isName } from './names.ts';
import { printPattern, type OpenApiDocument } from './operations.ts';
import { joinUnions, printViolation } from './sentences.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
};

interface Parameter {
  name: string;
  in: string;
  required?: boolean | undefined;
  schema: Schema;
}

interface DocumentedOperation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** Where a parameter of the request stands, and how problems name it. */
const PLACES = { query: (name: string) => `?${name}`, path: (name: string) => `{${name}}` } as const;
type TextPlace = keyof typeof PLACES;

/** Parameters of a request by name, with the types that the document gives; or what is wrong with them. */
interface Texts {
  values: Readonly<Record<string, unknown>>;
  problems: Problem[];
}

export interface Contract {
  /** `operation` is `post /api/v1/experiments/:id/flow`. A body of few values gets all of its problems, a larger one only the first. */
  checkBody(operation: string, body: unknown, valueCount: number): { body: unknown; problems: Problem[] };
  /** Texts by name; a name that was sent twice has a list. An operation that the document leaves out (a page) gets its texts as they are. */
  checkTexts(operation: string, place: TextPlace, texts: Readonly<Record<string, unknown>>): Texts;
}

/** A body of fewer values is checked to its end for all of its problems. */
const SMALL_BODY = 1_000;
const MOST_PROBLEMS = 20;
const ROOT = 'document';

const escapeToken = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1');

const pointerTo = (...tokens: readonly (string | number)[]) =>
  `${ROOT}#${tokens.map((token) => `/${encodeURIComponent(escapeToken(String(token)))}`).join('')}`;

/** The member that a rule of an object is about. */
function memberOf({ keyword, params }: ErrorObject): string {
  const names: Readonly<Record<string, string>> = { required: 'missingProperty', discriminator: 'tag' };
  const name = (params as Record<string, string>)[names[keyword] ?? ''];
  return name === undefined ? '' : `/${escapeToken(name)}`;
}

/** Whether another failure tells the same: why a single item is not what its list must contain, or that a condition fails whose rules are told. */
const isToldElsewhere = ({ keyword, schemaPath }: ErrorObject) => keyword === 'if' || /(?<!\/properties)\/contains\//.test(schemaPath);

/** Rules that say too little or too much beside another broken rule of the same value, by the rules that say enough. */
const TOLD_BY: Readonly<Record<string, readonly string[]>> = {
  type: ['enum'],
  format: ['type', 'minimum', 'maximum', 'minLength'],
  pattern: ['minLength'],
};

const isToldBeside = ({ keyword, instancePath }: ErrorObject, others: readonly ErrorObject[]) =>
  others.some((other) => other.instancePath === instancePath && TOLD_BY[keyword]?.includes(other.keyword));

function problemsOf(failures: readonly ErrorObject[] | null | undefined): Problem[] {
  const problems = joinUnions((failures ?? []).filter((failure) => !isToldElsewhere(failure)))
    .filter((error, _index, all) => !isToldBeside(error, all))
    .map((error) => ({ path: `${error.instancePath}${memberOf(error)}`, message: printViolation(error) }));
  return [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()].slice(0, MOST_PROBLEMS);
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Reads the value that a text of a query or path stands for. A text that stands for none is kept, so that the schema says what is wrong. */
function valueOf(text: unknown, { type }: Schema): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' || type === 'number') return NUMBER.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** Reads a time. One that no `Date` holds, such as a leap second, becomes an invalid one. */
const readTime = (text: string): Date => new Date(text.replace(/[-+]\d\d$/, '$&:00'));

function openValidator(schemas: object, allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    discriminator: true,
    allErrors,
    validateSchema: false,
    verbose: true,
    messages: false,
    logger: false,
    // a number that keeps its digits is an object to JavaScript, and none to JSON
    code: { process: (code) => code.replaceAll(/typeof (\w+) == "object" && !Array\.isArray\(\1\)/g, '$& && !JSON.isRawJSON($1)') },
  });
  formats.default(ajv);
  const dateTime = formats.default.get('date-time') as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text: string) => dateTime.validate(text) && !Number.isNaN(readTime(text).getTime()));
  ajv.addFormat('name', isName);
  return ajv.addSchema(schemas, ROOT);
}

/** The part of the document that requests are checked by. Examples, answers and texts of operations are left out, so that they are neither walked nor kept. */
interface Checked {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema> };
}

function checkedOf(document: OpenApiDocument): Checked {
  const { paths, components } = document as unknown as Checked;
  const map = <T, R>(members: Readonly<Record<string, T>>, change: (member: T) => R) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
  const operationOf = ({ parameters = [], requestBody }: DocumentedOperation): DocumentedOperation => ({
    parameters: parameters.map(({ name, in: place, required, schema }) => ({ name, in: place, required, schema })),
    ...(requestBody ? { requestBody: { content: map(requestBody.content, ({ schema }) => ({ schema })) } } : {}),
  });
  return {
    paths: map(paths, (item) => map(item, operationOf)),
    components: { schemas: placeKinds(components.schemas, components.schemas) },
  };
}

/** Checks of requests against the published document. Each schema is compiled when it is first asked for. */
export function openContract(document: OpenApiDocument): Contract {
  const { paths, components } = checkedOf(document);
  const validators = { first: openValidator({ paths, components }, false), all: openValidator({ paths, components }, true) };
  const operations = new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method} ${printPattern(path)}`, { path, method, operation }]),
    ),
  );
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const isTime = (schema: Schema): boolean => resolve(schema).format === 'date-time';

  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (key: string, how: keyof typeof validators, schema: () => object): ValidateFunction => {
    const known = compiled.get(`${how} ${key}`);
    if (known) return known;
    const made = validators[how].compile(schema());
    compiled.set(`${how} ${key}`, made);
    return made;
  };
  return {
    checkBody: (key, body, valueCount) => {
      const { path = '', method = '', operation = {} } = operations.get(key) ?? {};
      const schema = operation.requestBody?.content['application/json']?.schema;
      if (!schema) return { body, problems: [] };
      const isValid = validatorOf(`${key} body`, valueCount < SMALL_BODY ? 'all' : 'first', () => ({
        $ref: pointerTo('paths', path, method, 'requestBody', 'content', 'application/json', 'schema'),
      }));
      if (!isValid(body)) return { body, problems: problemsOf(isValid.errors) };
      // times that are direct members of a body become dates; deeper ones stay texts
      const times = Object.entries(resolve(schema).properties ?? {}).filter(([, member]) => isTime(member));
      const given = body as Record<string, unknown>;
      const read = times
        .filter(([name]) => typeof given[name] === 'string')
        .map(([name]) => [name, readTime(String(given[name]))] as const);
      return { body: read.length === 0 ? body : { ...given, ...Object.fromEntries(read) }, problems: [] };
    },
    checkTexts: (key, place, texts) => {
      const known = operations.get(key);
      if (!known) return { values: Object.fromEntries(Object.entries(texts).filter(([, text]) => typeof text === 'string')), problems: [] };
      const { path, method, operation } = known;
      const parameters = (operation.parameters ?? [])
        .map((parameter, index) => ({ ...parameter, index }))
        .filter((one) => one.in === place);
      const twice = parameters.filter(({ name }) => Array.isArray(texts[name]));
      if (twice.length > 0)
        return { values: {}, problems: twice.map(({ name }) => ({ path: PLACES[place](name), message: 'must be given once' })) };
      const values = Object.fromEntries(
        parameters.flatMap(({ name, schema }) => (texts[name] === undefined ? [] : [[name, valueOf(texts[name], resolve(schema))]])),
      );
      const isValid = validatorOf(`${key} ${place}`, 'all', () => ({
        type: 'object',
        properties: Object.fromEntries(
          parameters.map(({ name, index }) => [name, { $ref: pointerTo('paths', path, method, 'parameters', index, 'schema') }]),
        ),
        required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
      }));
      const problems = isValid(values)
        ? []
        : problemsOf(isValid.errors).map((problem) => ({ ...problem, path: PLACES[place](problem.path.slice(1)) }));
      if (problems.length > 0) return { values, problems };
      const given = parameters.flatMap(({ name, schema }): [string, unknown][] => {
        const value = values[name] ?? resolve(schema).default;
        return value === undefined ? [] : [[name, isTime(schema) ? readTime(value as string) : value]];
      });
      return { values: Object.fromEntries(given), problems: [] };
    },
  };
}
