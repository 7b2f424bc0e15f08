import { expect } from 'vitest';
import type { OperationRow } from './operations.ts';
import type { Answer, Call, TestServer } from './server.ts';
import { uploadTable } from './uploads.ts';

/** How one write is made: whose it is, the path's parameters besides the experiment, and the body. */
interface Write {
  as?: Call;
  path?: Record<string, string>;
  body?: unknown;
}

/** Makes what a write needs in an experiment that is not archived yet. */
type Preparation = (experimentId: string) => Write | Promise<Write>;

interface ExperimentWrite {
  prepare: Preparation;
  /** Whether an archived experiment takes it: un-archiving aside, what is excepted. An answer about several devices refuses each of them. */
  whenArchived: 'refused' | 'refused for each' | 'taken';
}

const layout = { col: 0, row: 0, colSpan: 6, rowSpan: 4 };
const chart = {
  name: 'Chart',
  chartFamily: 'basic',
  chartType: 'line',
  dataConfig: { tableName: 'raw_data', dataSources: [{ tableName: 'raw_data', columnName: 'timestamp', role: 'x' }] },
};
const plots = {
  metadata: {
    name: 'Plots',
    columns: [{ id: 'c', name: 'plot', type: 'string' }],
    rows: [{ _id: '1', c: 'P1' }],
    identifierColumnId: 'c',
    experimentQuestionId: 'plot',
  },
};
const flow = {
  nodes: [{ id: 'a', type: 'instruction', name: 'a', isStart: true, content: { text: 'Look' } }],
  edges: [],
};
const location = { locations: [{ name: 'Field', latitude: 52, longitude: 5 }] };
const comment = { type: 'comment', content: { type: 'comment', text: 'Moved' } };

const made = ({ status, body, text }: Answer) => {
  expect(status, text).toBeLessThan(300);
  return body;
};

/** A way to make each write under an experiment that is served, by `METHOD /path`, as the people of a test server. */
export function experimentWrites(site: TestServer): Record<string, ExperimentWrite> {
  const { cast } = site;
  const owner = site.as(cast.owner);
  const stranger = site.as(cast.stranger);
  let serials = 0;
  const post = async (path: string, body: unknown, call = owner) => made(await call('POST', path, { body }));
  const at = (id: string, path: string) => `/api/v1/experiments/${id}/${path}`;
  const own = (more: object) => ({ organizationId: cast.leafLab, ...more });

  const share = async (id: string) => {
    const body = { granteeType: 'user', granteeId: cast.viewer.id, role: 'viewer' };
    await post(`/api/v1/experiment/${id}/collaborators`, body);
    const rows: { id: string; kind: string; granteeId?: string; userId?: string }[] = made(
      await owner('GET', `/api/v1/experiment/${id}/collaborators`),
    );
    return rows.findLast(({ kind }) => kind === 'grant')?.id ?? '';
  };
  const ask = async (id: string) => {
    made(await owner('PATCH', at(id, 'visibility'), { body: { visibility: 'public' } }));
    return String((await post(at(id, 'join-requests'), {}, stranger)).id);
  };
  const rows = async (id: string) => {
    const tableName = await uploadTable(owner, id, 'leaves', 'n\n1\n2\n');
    const answer = made(await owner('GET', at(id, 'data'), { query: { tableName } }));
    const found: { id: string }[] = answer[0].data.rows;
    return { tableName, rowId: found[0]?.id ?? '' };
  };
  const annotated = async (id: string) => {
    const target = await rows(id);
    await post(at(id, 'data/annotations'), { ...target, annotation: comment });
    const answer = made(await owner('GET', at(id, 'data'), { query: { tableName: target.tableName } }));
    const all: { id: string; annotations: { id: string }[] }[] = answer[0].data.rows;
    return { ...target, annotationId: all.flatMap(({ annotations }) => annotations)[0]?.id ?? '' };
  };
  const workbook = async () => String((await post('/api/v1/workbooks', own({ name: 'Walk', cells: [] }))).id);
  const attached = async (id: string) => {
    const workbookId = String(
      (
        await post(
          '/api/v1/workbooks',
          own({ name: 'Walk', cells: [{ id: 'q', type: 'question', name: 'Dry', question: { kind: 'yes_no', text: '?' } }] }),
        )
      ).id,
    );
    await post(at(id, 'workbook/attach'), { workbookId });
    return workbookId;
  };
  const device = async () => {
    const { id } = await post('/api/v1/devices', own({ serialNumber: `W-${(serials += 1)}`, deviceType: 'multispeq' }));
    await post(`/api/v1/devices/${String(id)}/credentials`, {});
    return String(id);
  };
  const exported = async (id: string) => {
    const { tableName } = await rows(id);
    return String((await post(at(id, 'data/exports'), { tableName, format: 'csv' })).exportId);
  };
  const form = () => {
    const body = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'more' })) body.append(field, value);
    body.append('files', new Blob(['n\n1\n']), 'more.csv');
    return body;
  };
  const refused = (prepare: Preparation): ExperimentWrite => ({ prepare, whenArchived: 'refused' });
  const taken = (prepare: Preparation): ExperimentWrite => ({ prepare, whenArchived: 'taken' });
  const dashboard = async (id: string) => String((await post(at(id, 'dashboards'), { name: 'Board' })).id);
  const visualization = async (id: string) => String((await post(at(id, 'visualizations'), chart)).id);
  const metadata = async (id: string) => String((await post(at(id, 'metadata'), plots)).metadataId);
  const macro = async () =>
    String((await post('/api/v1/macros', own({ name: `Macro ${(serials += 1)}`, code: 'return {};', language: 'javascript' }))).id);
  const experiment = { resourceType: 'experiment' };
  const E = '/api/v1/experiments/{id}';
  const S = '/api/v1/{resourceType}/{id}';

  return {
    [`PATCH ${E}`]: refused(() => ({ body: { name: 'Another' } })),
    [`DELETE ${E}`]: taken(() => ({})),
    [`PATCH ${E}/visibility`]: taken(() => ({ body: { visibility: 'public' } })),
    [`POST ${E}/data/macros/{macroId}/reprocess`]: refused(async () => ({
      path: { macroId: await macro() },
      body: {},
    })),
    [`POST ${E}/macros/{macroId}/run`]: refused(async () => ({ path: { macroId: await macro() }, body: {} })),
    [`DELETE ${E}/macros/{macroId}/run`]: refused(async (id) => {
      const macroId = await macro();
      await post(`/api/v1/experiments/${id}/macros/${macroId}/run`, { onNew: true });
      return { path: { macroId } };
    }),
    [`POST ${E}/data/exports`]: taken(async (id) => ({ body: { tableName: (await rows(id)).tableName, format: 'csv' } })),
    [`DELETE ${E}/data/exports/{exportId}`]: taken(async (id) => ({ path: { exportId: await exported(id) } })),
    [`POST ${E}/data/uploads`]: refused(() => ({ body: form() })),
    [`POST ${E}/data/uploads/preview`]: refused(() => ({ body: form() })),
    [`POST ${E}/data/uploads/{uploadId}/replay`]: refused(async (id) => {
      await rows(id);
      const { uploads }: { uploads: { uploadId: string }[] } = made(await owner('GET', at(id, 'data/uploads')));
      return { path: { uploadId: uploads[0]?.uploadId ?? '' } };
    }),
    [`POST ${E}/data/uploads/{uploadId}/withdraw`]: refused(async (id) => {
      await rows(id);
      const { uploads }: { uploads: { uploadId: string }[] } = made(await owner('GET', at(id, 'data/uploads')));
      return { path: { uploadId: uploads[0]?.uploadId ?? '' } };
    }),
    [`DELETE ${E}/data/tables/{tableId}`]: refused(async (id) => ({
      path: { tableId: await uploadTable(owner, id, 'leaves', 'n\n1\n2\n') },
    })),
    [`PATCH ${E}/data/tables/{tableId}/columns/{name}`]: refused(async (id) => ({
      path: { tableId: await uploadTable(owner, id, 'leaves', 'n\n1\n2\n'), name: 'n' },
      body: { type: 'string' },
    })),
    [`POST ${E}/data/annotations`]: refused(async (id) => ({ body: { ...(await rows(id)), annotation: comment } })),
    [`POST ${E}/data/annotations/bulk`]: refused(async (id) => {
      const { tableName, rowId } = await rows(id);
      return { body: { tableName, rowIds: [rowId], annotation: comment } };
    }),
    [`PATCH ${E}/data/annotations/{annotationId}`]: refused(async (id) => ({
      path: { annotationId: (await annotated(id)).annotationId },
      body: { content: { type: 'comment', text: 'Again' } },
    })),
    [`DELETE ${E}/data/annotations/{annotationId}`]: refused(async (id) => ({
      path: { annotationId: (await annotated(id)).annotationId },
    })),
    [`POST ${E}/data/annotations/bulk-delete`]: refused(async (id) => {
      const { tableName, rowId } = await annotated(id);
      return { body: { tableName, rowIds: [rowId], type: 'comment' } };
    }),
    [`POST ${E}/locations`]: refused(() => ({ body: location })),
    [`PUT ${E}/locations`]: refused(() => ({ body: location })),
    [`DELETE ${E}/devices/{deviceId}`]: taken(async (id) => {
      const deviceId = await device();
      await post(`/api/v1/devices/${deviceId}/onboard`, { experimentIds: [id] });
      return { path: { deviceId } };
    }),
    [`POST ${E}/metadata`]: refused(() => ({ body: plots })),
    [`PUT ${E}/metadata/{metadataId}`]: refused(async (id) => ({ path: { metadataId: await metadata(id) }, body: plots })),
    [`DELETE ${E}/metadata/{metadataId}`]: refused(async (id) => ({ path: { metadataId: await metadata(id) } })),
    [`POST ${E}/flow`]: refused(() => ({ body: flow })),
    [`PUT ${E}/flow`]: refused(async (id) => {
      await post(at(id, 'flow'), flow);
      return { body: flow };
    }),
    [`POST ${E}/workbook/attach`]: refused(async () => ({ body: { workbookId: await workbook() } })),
    [`POST ${E}/workbook/detach`]: refused(async (id) => {
      await attached(id);
      return {};
    }),
    [`POST ${E}/workbook/upgrade`]: refused(async (id) => {
      const workbookId = await attached(id);
      made(await owner('PATCH', `/api/v1/workbooks/${workbookId}`, { body: { description: 'Newer' } }));
      return {};
    }),
    [`POST ${E}/workbook/version`]: refused(async (id) => {
      await attached(id);
      const { workbookVersionId } = made(await owner('GET', `/api/v1/experiments/${id}`));
      return { body: { versionId: workbookVersionId } };
    }),
    [`POST ${E}/dashboards`]: refused(() => ({
      body: { name: 'Board', widgets: [{ id: crypto.randomUUID(), layout, type: 'table', config: {} }] },
    })),
    [`PATCH ${E}/dashboards/{dashboardId}`]: refused(async (id) => ({ path: { dashboardId: await dashboard(id) }, body: { name: 'B' } })),
    [`DELETE ${E}/dashboards/{dashboardId}`]: refused(async (id) => ({ path: { dashboardId: await dashboard(id) } })),
    [`POST ${E}/visualizations`]: refused(() => ({ body: chart })),
    [`PATCH ${E}/visualizations/{visualizationId}`]: refused(async (id) => ({
      path: { visualizationId: await visualization(id) },
      body: { name: 'C' },
    })),
    [`DELETE ${E}/visualizations/{visualizationId}`]: refused(async (id) => ({ path: { visualizationId: await visualization(id) } })),
    [`POST ${E}/join-requests`]: refused(async (id) => {
      made(await owner('PATCH', at(id, 'visibility'), { body: { visibility: 'public' } }));
      return { as: stranger, body: {} };
    }),
    [`POST ${E}/join-requests/{requestId}/approve`]: refused(async (id) => ({ path: { requestId: await ask(id) } })),
    [`POST ${E}/join-requests/{requestId}/reject`]: refused(async (id) => ({ path: { requestId: await ask(id) } })),
    [`DELETE ${E}/join-requests/{requestId}`]: taken(async (id) => ({ as: stranger, path: { requestId: await ask(id) } })),
    [`POST ${S}/collaborators`]: refused(() => ({
      path: experiment,
      body: { granteeType: 'user', granteeId: cast.viewer.id, role: 'viewer' },
    })),
    [`PATCH ${S}/collaborators/{grantId}`]: refused(async (id) => ({
      path: { ...experiment, grantId: await share(id) },
      body: { role: 'admin' },
    })),
    [`DELETE ${S}/collaborators/{grantId}`]: refused(async (id) => ({ path: { ...experiment, grantId: await share(id) } })),
    [`DELETE ${S}/collaborators/me`]: taken(async (id) => {
      await share(id);
      return { as: site.as(cast.viewer), path: experiment };
    }),
    [`POST ${S}/transfer`]: taken(() => ({ path: experiment, body: { targetOrganizationId: cast.owner.workspaceId } })),
    'POST /api/v1/collaborators/transfer-admin': taken((id) => ({
      body: { transfers: [{ resourceType: 'experiment', resourceId: id, targetUserId: cast.viewer.id }] },
    })),
    'POST /api/v1/iot/upload-url': refused((id) => ({ body: { experimentId: id } })),
    'POST /api/v1/iot/upload-complete': refused(async (id) => {
      const { uploadUrl, headers, key } = await post('/api/v1/iot/upload-url', { experimentId: id });
      const put = await fetch(uploadUrl, {
        method: 'PUT',
        headers,
        body: JSON.stringify({ timestamp: '2026-05-01T10:00:00Z', sample: { n: 1 } }),
      });
      if (!put.ok) throw new Error(`the object was answered with ${put.status}`);
      return { body: { key } };
    }),
    'POST /api/v1/invitations': refused((id) => ({
      body: { resourceType: 'experiment', resourceId: id, email: `guest-${(serials += 1)}@example.com` },
    })),
    'DELETE /api/v1/invitations/{invitationId}': refused(async (id) => ({
      path: {
        invitationId: String(
          (
            await post('/api/v1/invitations', {
              resourceType: 'experiment',
              resourceId: id,
              email: `guest-${(serials += 1)}@example.com`,
            })
          ).id,
        ),
      },
    })),
    'POST /api/v1/devices/{deviceId}/onboard': refused(async (id) => ({
      path: { deviceId: await device() },
      body: { experimentIds: [id] },
    })),
    'POST /api/v1/device-groups/{groupId}/onboard': {
      whenArchived: 'refused for each',
      prepare: async (id) => {
        const { id: groupId } = await post('/api/v1/device-groups', own({ name: 'Roof' }));
        await post(`/api/v1/device-groups/${String(groupId)}/devices`, { deviceIds: [await device()] });
        return { path: { groupId: String(groupId) }, body: { experimentIds: [id] } };
      },
    },
  };
}

/** Whether an operation changes something of an experiment: by its path, or as one of those that name experiments in their body. */
export const changesExperiment = ({ method, path }: Pick<OperationRow, 'method' | 'path'>, others: ReadonlySet<string>): boolean =>
  method !== 'GET' && (/^\/api\/v1\/(experiments\/\{id\}|\{resourceType\}\/\{id\})/.test(path) || others.has(`${method} ${path}`));
