import { Get, Header, Path, Produces, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import { openEventStream } from '../../http/answers/event-stream.ts';
import type { AnyChange } from './changes.model.ts';

@Route('api/v1/experiments/{id}/changes')
@Tags('Experiments')
export class ChangesController extends ApiController {
  /**
   * Server-Sent Events of what happens in an experiment, for whoever may read it, as long as they may: an event says which table, upload, export, macro run or device
   * changed, and never what is in it. Only those events come whose subject you could read: of `raw_data` and upload tables, of uploads, and of exports of these tables
   * for those who may contribute, of devices for those who reach the experiment by more than its being public, whether a device is connected for those who may read the
   * device, and of macros that wait to be allowed for those who manage.
   *
   * A stream begins with the event `reset`: read what you show; from here on nothing is missed. After a cut send the id of the last event as `Last-Event-ID`, as
   * browsers do by themselves, and the stream goes on behind it, on any process. Where that cannot be (after a day, after a restore, or with more than 200 events
   * behind) it is `reset` again. A stream ends when your access, key or session does, within seconds and before the next event; when you do not take what is sent; and
   * when the service stops. A caller may have 20 streams, more are 429; a process that is full answers 503; both with `Retry-After`.
   * @summary Listen to changes of an experiment
   * @param id The experiment.
   * @param lastEventId The id of the last event that you know. Left out, the stream begins now.
   */
  @Get()
  @Security('caller', ['experiment:read'])
  @Produces('text/event-stream')
  public async listenToChanges(@Path() id: string, @Header('Last-Event-ID') lastEventId?: string): Promise<AnyChange | null> {
    const { changes } = this.ctx;
    changes.requirePlace(this.caller.userId);
    const stream = openEventStream(this.response);
    if (stream) this.response.once('close', changes.listen(this.caller, id.toLowerCase(), stream, lastEventId));
    return null;
  }
}
