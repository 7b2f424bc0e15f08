import { Delete, Get, Path, Queries, Route, Security, Tags } from '@tsoa/runtime';
import { readPageOrWhole } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { loadNaming } from '../experiments/pseudonym.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { countExperimentDevices, listExperimentDevices } from './bindings.queries.ts';
import type { ExperimentDevice } from './devices.model.ts';
import { detachDevice, requireRelation } from './onboarding.service.ts';

@Route('api/v1/experiments/{id}/devices')
@Tags('Devices')
export class ExperimentDevicesController extends ApiController {
  /**
   * For everybody who may read the experiment by more than its being public, else ACTION_DENIED (403). Answers the devices that may publish to it,
   * newest first. In an anonymised experiment others who bound them have pseudonyms, but to those who manage it.
   * @summary List the devices of an experiment
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async listExperimentDevices(@Path() id: string, @Queries() query: ListPage): Promise<ExperimentDevice[]> {
    await requireRelation(this.ctx, this.caller, id);
    const page = readPageOrWhole(query);
    const rows = listExperimentDevices(this.ctx.db, id, page);
    const named = await loadNaming(this.ctx, this.caller, id);
    const shown = rows.then((found) =>
      found.map(({ addedBy, addedAt, ...device }) => ({ device, addedBy: addedBy && named({ createdBy: addedBy }).createdBy, addedAt })),
    );
    return this.answerPage(page, shown, countExperimentDevices(this.ctx.db, id));
  }

  /**
   * For everybody who may contribute to the experiment: members of its organization and people with a grant. The device may not publish there any
   * more; what it measured stays. It is allowed on an archived experiment. A device that is not bound to it answers NOT_ATTACHED (404).
   * @summary Take a device off an experiment
   */
  @Delete('{deviceId}')
  @Security('caller', ['experiment:contribute'])
  public async removeExperimentDevice(@Path() id: string, @Path() deviceId: string): Promise<null> {
    return detachDevice(this.ctx, this.caller, id, deviceId);
  }
}
