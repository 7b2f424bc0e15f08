import { Get, Path, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { requireExperiment } from '../experiments/experiments.service.ts';
import type { ExperimentWithData } from './data.model.ts';
import { readFirstMeasurements } from './preview.service.ts';

@Route('api/v1/experiments')
@Tags('Experiments')
export class ExperimentController extends ApiController {
  /**
   * For everybody who may read the experiment. Answers the experiment with its places. With `include=data` the first 100 measurements come along,
   * where you may read them: that needs more than its being public.
   * @summary Read one experiment
   * @param include `data`: answer the first measurements of `raw_data` as well.
   */
  @Get('{id}')
  @Security('caller', ['experiment:read'])
  public async getExperiment(@Path() id: string, @Query() include?: 'data'): Promise<ExperimentWithData> {
    const experiment = await requireExperiment(this.ctx.db, id);
    const data = include === 'data' ? await readFirstMeasurements(this.ctx, this.caller, id, this.exchange.signal) : undefined;
    return this.answer(data ? { ...experiment, data } : experiment);
  }
}
