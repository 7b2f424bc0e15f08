// What the document says of parameters and members that mean the same wherever they stand, where their own code says nothing.

/** Parameters of a path, by the part of the path before them. */
const AFTER: Readonly<Record<string, string>> = {
  v1: 'What kind of resource it is.',
  '{resourceType}': 'Resource, by its UUID.',
  annotations: 'Annotation, by its UUID.',
  collaborators: 'Grant, by its UUID.',
  dashboards: 'Dashboard, by its UUID.',
  deliveries: 'Delivery, by its UUID, which is its `webhook-id`.',
  'device-groups': 'Device group, by its UUID.',
  devices: 'Device, by its UUID.',
  experiments: 'Experiment, by its UUID.',
  exports: 'Export, by its UUID.',
  macros: 'Macro, by its UUID.',
  metadata: 'Metadata table, by its UUID.',
  organizations: 'Organization, by its UUID.',
  protocols: 'Protocol, by its UUID.',
  tables: 'Upload table, by its UUID.',
  uploads: 'Upload, by its UUID.',
  users: 'Person, by their UUID.',
  visualizations: 'Chart, by its UUID.',
  webhooks: 'Webhook, by its UUID.',
  workbooks: 'Workbook, by its UUID.',
};

/** Members of objects, by their names. */
const MEMBERS: Readonly<Record<string, string>> = {
  bucketStart: 'Beginning of the hour or day, in UTC.',
  createdAt: 'When it was made, in UTC.',
  createdBy: 'Person who made it, by their UUID.',
  deviceId: 'Device, by its UUID.',
  image: "Web address of the account's picture; null without one.",
  lastDataAt:
    'Time of its newest measurement, in UTC; null when it never sent one. One that is more than a day ahead counts only where there is no other.',
  organizationId: 'Organization that owns it, by its UUID.',
  organizationName: 'Name of the owning organization; null for a personal workspace.',
  pipelineUnavailable: 'Some section could not be read, and is empty.',
  success: 'Always true.',
  updatedAt: 'When it was last changed, in UTC.',
  userId: 'Person, by their UUID.',
};

interface Described {
  $ref?: string;
  description?: string;
}

/** Describes the parameters of a path. */
export function describeParameters<P extends Described & { in: string; name: string }>(path: string, parameters: readonly P[]): P[] {
  const parts = path.split('/');
  const described = (parameter: P) => ({ description: AFTER[parts[parts.indexOf(`{${parameter.name}}`) - 1] ?? ''], ...parameter });
  return parameters.map((parameter) => (parameter.in === 'path' ? described(parameter) : parameter));
}

/** Describes the members of schemas. One that says nothing of itself is what its type says. */
export function describeMembers(schemas: Readonly<Record<string, Described & { properties?: Record<string, Described> }>>): void {
  for (const { properties = {} } of Object.values(schemas))
    for (const [name, member] of Object.entries(properties))
      member.description ??= MEMBERS[name] ?? schemas[member.$ref?.split('/').at(-1) ?? '']?.description;
}
