import type { Request as HttpRequest } from 'express';
import { Delete, Get, Path, Queries, Request, Route, Security, Tags } from '@tsoa/runtime';
import { listed } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { countExperimentDevices, listExperimentDevices } from './bindings.queries.ts';
import type { ExperimentDevice } from './devices.model.ts';
import { detachDevice, requireRelation } from './onboarding.service.ts';

interface ExperimentDevicesQuery {
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

const UNPAGED = 1_000;

@Route('api/v1/experiments/{id}/devices')
@Tags('Devices')
export class ExperimentDevicesController extends ApiController {
  /** The devices that may publish to an experiment, newest first. Not for those who can read it only because it is public. */
  @Get()
  @Security('caller', ['experiment:read'])
  public async list(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ExperimentDevicesQuery,
  ): Promise<ExperimentDevice[]> {
    await requireRelation(this.ctx, this.caller, id);
    const unpaged = query.page === undefined && query.pageSize === undefined;
    const page = { page: query.page ?? 1, pageSize: query.pageSize ?? (unpaged ? UNPAGED : 100) };
    const [rows, total] = await Promise.all([
      listExperimentDevices(this.ctx.db, id, { limit: page.pageSize, offset: (page.page - 1) * page.pageSize }),
      countExperimentDevices(this.ctx.db, id),
    ]);
    const shown = rows.map(({ addedBy, addedAt, ...device }) => ({ device, addedBy, addedAt }));
    return listed(request, this.response, { rows: shown, total }, page);
  }

  /** Takes a device off an experiment: it may not publish there any more. Allowed on an archived one. */
  @Delete('{deviceId}')
  @Security('caller', ['experiment:contribute'])
  public async remove(@Path() id: string, @Path() deviceId: string): Promise<null> {
    return detachDevice(this.ctx, this.caller, id, deviceId);
  }
}
