import { Get, Path, Query, Route, Security, Tags } from '@tsoa/runtime';
import { tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import { mustFindExperiment } from '../experiments/experiments.service.ts';
import type { ExperimentWithData } from './data.model.ts';
import { firstMeasurements } from './preview.service.ts';

@Route('api/v1/experiments')
@Tags('Experiments')
export class ExperimentController extends ApiController {
  /** One experiment with its locations, and with the first of its measurements where they are asked for. */
  @Get('{id}')
  @Security('caller', ['experiment:read'])
  public async get(@Path() id: string, @Query() include?: 'data'): Promise<ExperimentWithData> {
    const { version, ...experiment } = await mustFindExperiment(this.ctx.db, id);
    const data = include === 'data' ? await firstMeasurements(this.ctx, this.caller, id, this.exchange.signal) : undefined;
    return tagged(this.response, data ? { ...experiment, data } : experiment, version);
  }
}
