// Schemas of the document that are made from the shapes which read what is kept: tsoa can say neither a union by type nor a strict object.
import { z } from 'zod';
import { layoutShape, widgetShape } from '../../src/api/dashboards/widgets.ts';
import { annotationShape, contentShape } from '../../src/api/annotations/content.ts';
import { edgeShape, nodeShape } from '../../src/api/flow/graph.ts';
import { filterShape } from '../../src/api/input/filters.service.ts';
import { metadataShape } from '../../src/api/metadata/records.ts';
import { draftShape } from '../../src/api/visualizations/draft.ts';
import { dataConfigShape } from '../../src/api/visualizations/shape.ts';
import { fieldsShape, previewShape } from '../../src/api/uploads/fields.ts';
import { cellShape } from '../../src/api/workbooks/cells.ts';
import { NAME_PATTERN } from '../../src/contract/names.ts';
import { aggregationShape } from '../../src/lakehouse/ask/request.ts';

/** By the name of the model that it describes. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  AnnotationContent: contentShape,
  ChartDraft: draftShape,
  DataAggregation: aggregationShape,
  DataFilter: filterShape,
  DashboardLayoutInput: layoutShape,
  DashboardWidget: widgetShape,
  DataConfig: dataConfigShape,
  FlowEdge: edgeShape,
  FlowNode: nodeShape,
  Metadata: metadataShape,
  NewAnnotation: annotationShape,
  WorkbookCell: cellShape,
};

/** What the kinds of a union are called, by the model: the kind stands in the place of the star. A kind without a name is numbered by generators. */
const KINDS: Readonly<Record<string, string>> = {
  AnnotationContent: '*Content',
  DashboardWidget: '*Widget',
  FlowNode: '*Node',
  NewAnnotation: 'New*',
  QuestionNode: '*Step',
  QuestionCell: '*Question',
  WorkbookCell: '*Cell',
};

const pointTo = (name: string) => `#/components/schemas/${name}`;
const capitalise = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
/** `multi_choice` as `MultiChoice`. */
const nameOfKind = (pattern: string, kind: string) => pattern.replace('*', kind.split('_').map(capitalise).join(''));

type Union = z.ZodDiscriminatedUnion<z.ZodObject<{ [member: string]: z.ZodType }>[]>;
const isUnion = (shape: z.ZodType): shape is Union => shape instanceof z.ZodDiscriminatedUnion;
const kindOf = (union: Union, option: Union['options'][number]) => String((option.shape[union.def.discriminator] as z.ZodLiteral).value);

/** Shapes that the document knows by a name. */
const named = z.registry<{ id: string }>();

/** Gives a shape its name, and the kinds of a union theirs, also where the union is a member of a kind. */
function nameShape(name: string, shape: z.ZodType): void {
  named.add(shape, { id: name });
  const union = isUnion(shape) ? shape : Object.values(shape instanceof z.ZodObject ? shape.shape : {}).find((member) => isUnion(member));
  const pattern = KINDS[name];
  if (union === undefined || pattern === undefined) return;
  for (const option of union.options) nameShape(nameOfKind(pattern, kindOf(union, option)), option);
}
for (const [name, shape] of Object.entries(SHAPES)) nameShape(name, shape);

/** A union by type says which member tells the types apart, so that only the rules of one type are looked at. */
const sayKinds: NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'] = ({ zodSchema, jsonSchema }) => {
  if (!(zodSchema instanceof z.ZodType) || !isUnion(zodSchema)) return;
  const mapping = Object.fromEntries(zodSchema.options.map((option) => [kindOf(zodSchema, option), pointTo(named.get(option)?.id ?? '')]));
  Object.assign(jsonSchema, { type: 'object', discriminator: { propertyName: zodSchema.def.discriminator, mapping } });
};

interface Model {
  description?: string;
  $ref?: string;
  items?: Model;
  properties?: Record<string, Model>;
}
type Schema = Model & { $schema?: unknown; $id?: unknown; oneOf?: Schema[]; format?: unknown };

/** Takes over what the interface of a model says of itself and of its members. What has a name of its own is described there. */
function describe(schema: Schema, model: Model, models: Readonly<Record<string, Model>>): void {
  const known = model.$ref === undefined ? model : (models[model.$ref.split('/').at(-1) ?? ''] ?? {});
  const description = model.description ?? (schema.$ref === undefined ? known.description : undefined);
  if (description !== undefined) schema.description = description;
  describeMembers(schema, known, models);
}

function describeMembers(schema: Schema, model: Model, models: Readonly<Record<string, Model>>): void {
  if (schema.items && model.items) describe(schema.items, model.items, models);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const known = model.properties?.[name];
    if (known) describe(member, known, models);
  }
}

const start = { type: 'object', description: 'node with isStart', properties: { isStart: { const: true } }, required: ['isStart'] };

/** Gives every text of the format `name`, however deep it stands, the pattern of names. */
export function addNamePattern(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if ((schema as Schema).format === 'name') Object.assign(schema, { pattern: NAME_PATTERN });
  for (const part of Object.values(schema)) addNamePattern(part);
}

/** Rules that tsoa has no words for. */
export function addRules(models: Readonly<Record<string, Model>>): void {
  for (const name of ['FlowGraph', 'FlowReplacement'])
    Object.assign(models[name]?.properties?.['nodes'] ?? {}, { contains: start, minContains: 1, maxContains: 1 });
  Object.assign(models['FlowReplacement'] ?? {}, { dependentRequired: { nodes: ['edges'], edges: ['nodes'] } });
  Object.assign(models['NewInvitation'] ?? {}, {
    if: { properties: { resourceType: { const: 'platform' } } },
    else: { properties: { resourceId: { type: 'string' } }, required: ['resourceId'] },
  });
}

/** The schemas that take the place of those of tsoa, with the descriptions that those have, and the kinds of unions. */
export function makeShapedSchemas(models: Readonly<Record<string, Model>>): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(named, { io: 'input', uri: pointTo, override: sayKinds }) as { schemas: Record<string, Schema> };
  const made = Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _place, ...schema }]) => [name, schema as Schema]),
  );
  for (const name of Object.keys(SHAPES)) {
    const model = models[name] ?? {};
    const schema = made[name] ?? {};
    describe(schema, model, models);
    for (const { $ref = '' } of schema.oneOf ?? []) describeMembers(made[$ref.split('/').at(-1) ?? ''] ?? {}, model, models);
  }
  return made;
}

const listFiles = (description: string) => ({ type: 'array', description, minItems: 1, items: { type: 'string', format: 'binary' } });
const targetKind = { type: 'string', enum: ['new', 'existing'], description: 'Whether the files make a new table, or are added to one.' };

const ALWAYS = ['sourceKind', 'targetKind'];

/** What a form needs besides. */
const needs = (names: readonly string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])), required: names });

/** A form of fields, then files: one plain object, since clients made by generators send no form that is one of several. */
function makeForm(shape: z.ZodType, files: Readonly<Record<string, object>>, required: readonly string[]): object {
  const { oneOf: kinds } = z.toJSONSchema(shape, { io: 'input' }) as { oneOf: (Schema & { required: string[] })[] };
  const [made, existing] = kinds.map((kind) => needs([...kind.required.filter((name) => !ALWAYS.includes(name)), ...required]));
  const schema = {
    type: 'object',
    // fields come before files: generators send members in this order, and openapi-python-client those that are always required before all others
    properties: { ...Object.assign({}, ...kinds.map(({ properties }) => properties)), targetKind, ...files },
    required: ALWAYS,
    if: { properties: { targetKind: { const: 'new' } } },
    then: made,
    else: existing,
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

/** The body of an upload. */
export const makeUploadBody = (): object => makeForm(fieldsShape, { files: listFiles('The files, after all other fields.') }, ['files']);

/** The body of a preview. */
export const makePreviewBody = (): object =>
  makeForm(
    previewShape,
    {
      files: listFiles('Whole files of at most 4 MiB, after all other fields.'),
      parts: listFiles('The beginnings of larger files: at most 4 MiB of each, under their names. Ten files and parts at most.'),
    },
    [],
  );
