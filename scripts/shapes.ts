// Schemas of the document that are made from the shapes which read what is kept: tsoa can say neither a union by type nor a strict object.
import { z } from 'zod';
import { layoutShape, widgetShape } from '../src/api/dashboards/widgets.ts';
import { annotationShape, contentShape } from '../src/api/annotations/content.ts';
import { edgeShape, nodeShape } from '../src/api/flow/graph.ts';
import { aggregationShape, filterShape } from '../src/api/input/filters.service.ts';
import { metadataShape } from '../src/api/metadata/records.ts';
import { dataConfigShape } from '../src/api/visualizations/shape.ts';
import { fieldsShape } from '../src/api/uploads/fields.ts';
import { cellShape } from '../src/api/workbooks/cells.ts';

/** By the name of the model that it describes. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  AnnotationContent: contentShape,
  ChartAggregation: aggregationShape,
  ChartFilter: filterShape,
  DashboardLayoutInput: layoutShape,
  DashboardWidget: widgetShape,
  DataConfig: dataConfigShape,
  FlowEdge: edgeShape,
  FlowNode: nodeShape,
  Metadata: metadataShape,
  NewAnnotation: annotationShape,
  WorkbookCell: cellShape,
};

/** What a shape takes, as JSON Schema. A union by type says which member tells the types apart, so that only the rules of one type are looked at. */
function schemaOf(shape: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      if (def.type === 'union' && 'discriminator' in def)
        Object.assign(jsonSchema, { type: 'object', discriminator: { propertyName: def.discriminator } });
    },
  });
  return schema;
}

interface Model {
  description?: string;
  $ref?: string;
  items?: Model;
  properties?: Record<string, Model>;
}
type Schema = Model & { oneOf?: Schema[] };

/** Takes over what the interface of a model says of itself and of its members. */
function describe(schema: Schema, model: Model, models: Readonly<Record<string, Model>>): void {
  const known = model.$ref === undefined ? model : (models[model.$ref.split('/').at(-1) ?? ''] ?? {});
  const description = model.description ?? known.description;
  if (description !== undefined) schema.description = description;
  for (const one of schema.oneOf ?? []) describeMembers(one, known, models);
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

/** The schemas that take the place of those of tsoa, with the descriptions that those have. */
export const shapedSchemas = (models: Readonly<Record<string, Model>>): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => {
      const schema = schemaOf(shape) as Schema;
      describe(schema, models[name] ?? {}, models);
      return [name, schema];
    }),
  );

const files = { type: 'array', minItems: 1, items: { type: 'string', format: 'binary' } };

/** The body of an upload: its fields, then its files. */
export function uploadBody(): object {
  const { oneOf, ...rest } = schemaOf(fieldsShape) as { oneOf: Schema[] };
  // fields come before files, and a generator sends members in the order in which they stand here
  const properties = { ...Object.assign({}, ...oneOf.map((kind) => kind.properties)), targetKind: {}, files };
  const schema = { ...rest, properties, required: ['sourceKind', 'targetKind', 'files'], oneOf };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}
