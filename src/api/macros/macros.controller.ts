import { Body, Delete, Get, Patch, Path, Post, Put, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageQuery, sliceList, addEtag } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { CodeVersionSummary } from '../resources/code-versions.model.ts';
import { countCodeVersions, listCodeVersions } from '../resources/code-versions.service.ts';
import type { MacroProtocolLink, MacroProtocolLinks } from '../resources/links.model.ts';
import { linkProtocols, listProtocolsOfMacro, unlink } from '../resources/links.service.ts';
import type { PageQuery, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { countLibrary, makeFilter, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { executeBatch, executeMacro } from './execution.service.ts';
import type {
  Macro,
  MacroBatch,
  MacroBatchResult,
  MacroListQuery,
  MacroPatch,
  MacroRun,
  MacroRunResult,
  MacroVersion,
  NewMacro,
} from './macros.model.ts';
import { findMacro, listMacros } from './macros.queries.ts';
import { changeMacro, createMacro, readMacroVersion } from './macros.service.ts';

@Route('api/v1/macros')
@Tags('Macros')
export class MacrosController extends ApiController {
  /**
   * Answers the macros that you may read, curated ones first and then by name; with `search`, best match first. X-Total-Count says how many there
   * are, exactly up to 10,000 or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the macros you may read
   */
  @Get()
  @Security('caller')
  public async listMacros(@Queries() query: MacroListQuery): Promise<Macro[]> {
    const filter = { ...makeFilter(this.caller.userId, query), language: query.language };
    const page = readPageQuery(query);
    return this.answerPage(page, listMacros(this.ctx.db, filter, page), countLibrary(this.ctx.db, 'macro', filter, this.countLimit));
  }

  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. It is private unless stated otherwise. Code that
   * would not start is stored all the same; `warnings` say why. Refused with NOT_A_MEMBER (403) for an organization of others.
   * @summary Create a macro
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createMacro(@Body() body: NewMacro): Promise<Macro> {
    return createMacro(this.ctx, this.caller, body);
  }

  /**
   * For everybody who is signed in: up to 5,000 items, of any macros that you may read. Answers one result an item, in order; what goes wrong inside
   * is a result with `success` false. A macro that you may not read looks like one that does not exist. `workbook_version_id` runs the code that a
   * workbook version keeps. With too many runs of yours waiting it refuses with MACRO_QUEUE_FULL (429).
   * @summary Run macros over many inputs
   */
  @Post('execute-batch')
  @Security('caller')
  @SuccessResponse(200, 'Ok')
  public async executeMacroBatch(@Body() body: MacroBatch): Promise<MacroBatchResult> {
    return executeBatch(this.ctx, this.caller, body, this.exchange.signal);
  }

  /**
   * For everybody who may read the macro; `code` runs another text in its place. What goes wrong inside is a result: `success` is false and `error` says why. With too many runs of yours
   * waiting it refuses with MACRO_QUEUE_FULL (429), and where its language cannot run on this server with MACRO_RUNTIME_UNAVAILABLE (503).
   * @summary Run a macro over one input
   */
  @Post('{id}/execute')
  @Security('caller', ['macro:read'])
  @SuccessResponse(200, 'Ok')
  public async executeMacro(@Path() id: string, @Body() body: MacroRun): Promise<MacroRunResult> {
    return executeMacro(this.ctx, this.caller, id, body, this.exchange.signal);
  }

  /**
   * For everybody who may read the macro. Answers it with its code, and what you may do with it.
   * @summary Read one macro
   */
  @Get('{id}')
  @Security('caller', ['macro:read'])
  public async getMacro(@Path() id: string): Promise<Macro> {
    return this.answerWithCapabilities('macro', id, findMacro(this.ctx.db, id));
  }

  /**
   * Only for owners and admins of the macro. Fields that are left out keep their value; a change of code or language raises `codeVersion`. Code that
   * would not start is stored all the same; `warnings` say why. With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Change a macro
   */
  @Put('{id}')
  @Security('caller', ['macro:update'])
  public async updateMacro(@Path() id: string, @Body() body: MacroPatch): Promise<Macro> {
    return this.answer(await changeMacro(this.ctx, this.caller, this.readTarget({ id }), body));
  }

  /**
   * Only for owners and admins of the macro. Workbook versions keep what it said; cells that name it are left dangling. With `If-Match`, a newer
   * version refuses with PRECONDITION_FAILED (412).
   * @summary Delete a macro
   */
  @Delete('{id}')
  @Security('caller', ['macro:manage'])
  public async deleteMacro(@Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, this.readTarget({ type: 'macro', id }));
  }

  /**
   * Only for owners and admins of the macro. Everybody who is signed in may then read and run it. There is no way back: `private` for a public macro
   * refuses with VISIBILITY_NOT_MONOTONIC (409). With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Make a macro public
   */
  @Patch('{id}/visibility')
  @Security('caller', ['macro:manage'])
  public async setMacroVisibility(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, this.readTarget({ type: 'macro', id }), body.visibility);
  }

  /**
   * For everybody who may read the macro. Answers the linked protocols that you may read, by name. X-Total-Count says how many there are, and Link
   * leads to the other pages.
   * @summary List protocols linked to a macro
   */
  @Get('{id}/protocols')
  @Security('caller', ['macro:read'])
  public async listMacroProtocols(@Path() id: string, @Queries() page: ListPage): Promise<MacroProtocolLink[]> {
    return sliceList(this.response, await listProtocolsOfMacro(this.ctx.db, this.caller.userId, id), page);
  }

  /**
   * Only for owners and admins of the macro, and for protocols that they may read. All are linked, or none; the links are answered. A link that is
   * there stays.
   * @summary Link protocols to a macro
   */
  @Post('{id}/protocols')
  @Security('caller', ['macro:update'])
  @SuccessResponse(201, 'Created')
  public async linkMacroProtocols(@Path() id: string, @Body() body: MacroProtocolLinks): Promise<MacroProtocolLink[]> {
    return linkProtocols(this.ctx, this.caller, id, body.protocolIds);
  }

  /**
   * Only for owners and admins of the macro. A link that is not there is no error.
   * @summary Unlink a protocol from a macro
   */
  @Delete('{id}/protocols/{protocolId}')
  @Security('caller', ['macro:update'])
  public async unlinkMacroProtocol(@Path() id: string, @Path() protocolId: string): Promise<null> {
    return unlink(this.ctx, this.caller, { type: 'macro', macroId: id, protocolId });
  }

  /**
   * For everybody who may read the macro. Newest first. A change of its code or language makes a version. X-Total-Count says how many there are, and
   * Link leads to the other pages.
   * @summary List the versions of a macro
   */
  @Get('{id}/versions')
  @Security('caller', ['macro:read'])
  public async listMacroVersions(@Path() id: string, @Queries() query: PageQuery): Promise<CodeVersionSummary[]> {
    const page = readPageQuery(query);
    return this.answerPage(page, listCodeVersions(this.ctx.db, id, page), countCodeVersions(this.ctx.db, id));
  }

  /**
   * For everybody who may read the macro. Answers what it said at that version, which never changes. One that was never made is CODE_VERSION_NOT_FOUND
   * (404).
   * @summary Read one version of a macro
   * @param version Number of the version, from 1.
   * @isInt version
   * @minimum version 1
   * @maximum version 2147483647
   */
  @Get('{id}/versions/{version}')
  @Security('caller', ['macro:read'])
  public async getMacroVersion(@Path() id: string, @Path() version: number): Promise<MacroVersion> {
    return addEtag(this.response, await readMacroVersion(this.ctx.db, id, version), version);
  }
}
