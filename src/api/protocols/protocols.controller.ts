import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageQuery, sliceList, addEtag } from '../../http/answers/answers.ts';
import { readBodyMember } from '../../http/requests/body.ts';
import { ApiController } from '../../http/controllers.ts';
import { makeInTurns } from '../../waiting.ts';
import type { CodeVersionSummary } from '../resources/code-versions.model.ts';
import { countCodeVersions, listCodeVersions } from '../resources/code-versions.service.ts';
import type { ProtocolMacroLink, ProtocolMacroLinks } from '../resources/links.model.ts';
import { linkMacros, listMacrosOfProtocol, unlink } from '../resources/links.service.ts';
import type { LibraryListQuery, PageQuery, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { countLibrary, makeFilter, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import type { NewProtocol, Protocol, ProtocolPatch, ProtocolVersion } from './protocols.model.ts';
import { findProtocol, listProtocols } from './protocols.queries.ts';
import { createProtocol, patchProtocol, readProtocol, readProtocolVersion } from './protocols.service.ts';

@Route('api/v1/protocols')
@Tags('Protocols')
export class ProtocolsController extends ApiController {
  /**
   * Answers the protocols that you may read, curated ones first and then by name; with `search`, best match first. X-Total-Count says how many there
   * are, exactly up to 10,000 or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the protocols you may read
   */
  @Get()
  @Security('caller')
  public async listProtocols(@Queries() query: LibraryListQuery): Promise<Protocol[]> {
    const filter = makeFilter(this.caller.userId, query);
    const page = readPageQuery(query);
    const rows = listProtocols(this.ctx.db, filter, page).then((found) => makeInTurns(found, readProtocol));
    return this.answerPage(page, rows, countLibrary(this.ctx.db, 'protocol', filter, this.countLimit));
  }

  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. It is private unless stated otherwise. Refused
   * with NOT_A_MEMBER (403) for an organization of others.
   * @summary Create a protocol
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createProtocol(@Body() body: NewProtocol): Promise<Protocol> {
    return createProtocol(this.ctx, this.caller, body, readBodyMember(this.request, 'code') ?? 'null');
  }

  /**
   * For everybody who may read the protocol. Answers it with its code, and what you may do with it.
   * @summary Read one protocol
   */
  @Get('{id}')
  @Security('caller', ['protocol:read'])
  public async getProtocol(@Path() id: string): Promise<Protocol> {
    const finding = findProtocol(this.ctx.db, id).then((found) => found && readProtocol(found));
    return this.answerWithCapabilities('protocol', id, finding);
  }

  /**
   * Only for owners and admins of the protocol. Fields that are left out keep their value; a change of code or family raises `codeVersion`. With
   * `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Change a protocol
   */
  @Patch('{id}')
  @Security('caller', ['protocol:update'])
  public async updateProtocol(@Path() id: string, @Body() body: ProtocolPatch): Promise<Protocol> {
    const change = { body, code: readBodyMember(this.request, 'code') };
    return this.answer(await patchProtocol(this.ctx, this.caller, this.readTarget({ id }), change));
  }

  /**
   * Only for owners and admins of the protocol. Workbook versions keep what it said; cells that name it are left dangling. With `If-Match`, a newer
   * version refuses with PRECONDITION_FAILED (412).
   * @summary Delete a protocol
   */
  @Delete('{id}')
  @Security('caller', ['protocol:manage'])
  public async deleteProtocol(@Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, this.readTarget({ type: 'protocol', id }));
  }

  /**
   * Only for owners and admins of the protocol. Everybody who is signed in may then read it. There is no way back: `private` for a public protocol
   * refuses with VISIBILITY_NOT_MONOTONIC (409). With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Make a protocol public
   */
  @Patch('{id}/visibility')
  @Security('caller', ['protocol:manage'])
  public async setProtocolVisibility(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, this.readTarget({ type: 'protocol', id }), body.visibility);
  }

  /**
   * For everybody who may read the protocol. Answers the linked macros that you may read, by name. X-Total-Count says how many there are, and Link
   * leads to the other pages.
   * @summary List macros linked to a protocol
   */
  @Get('{id}/macros')
  @Security('caller', ['protocol:read'])
  public async listProtocolMacros(@Path() id: string, @Queries() page: ListPage): Promise<ProtocolMacroLink[]> {
    return sliceList(this.response, await listMacrosOfProtocol(this.ctx.db, this.caller.userId, id), page);
  }

  /**
   * Only for owners and admins of the protocol, and for macros that they may read. All are linked, or none; the links are answered. A link that is
   * there stays.
   * @summary Link macros to a protocol
   */
  @Post('{id}/macros')
  @Security('caller', ['protocol:update'])
  @SuccessResponse(201, 'Created')
  public async linkProtocolMacros(@Path() id: string, @Body() body: ProtocolMacroLinks): Promise<ProtocolMacroLink[]> {
    return linkMacros(this.ctx, this.caller, id, body.macroIds);
  }

  /**
   * Only for owners and admins of the protocol. A link that is not there is no error.
   * @summary Unlink a macro from a protocol
   */
  @Delete('{id}/macros/{macroId}')
  @Security('caller', ['protocol:update'])
  public async unlinkProtocolMacro(@Path() id: string, @Path() macroId: string): Promise<null> {
    return unlink(this.ctx, this.caller, { type: 'protocol', macroId, protocolId: id });
  }

  /**
   * For everybody who may read the protocol. Newest first. A change of its code or family makes a version. X-Total-Count says how many there are, and
   * Link leads to the other pages.
   * @summary List the versions of a protocol
   */
  @Get('{id}/versions')
  @Security('caller', ['protocol:read'])
  public async listProtocolVersions(@Path() id: string, @Queries() query: PageQuery): Promise<CodeVersionSummary[]> {
    const page = readPageQuery(query);
    return this.answerPage(page, listCodeVersions(this.ctx.db, id, page), countCodeVersions(this.ctx.db, id));
  }

  /**
   * For everybody who may read the protocol. Answers what it said at that version, which never changes. One that was never made is CODE_VERSION_NOT_FOUND
   * (404).
   * @summary Read one version of a protocol
   * @param version Number of the version, from 1.
   * @isInt version
   * @minimum version 1
   * @maximum version 2147483647
   */
  @Get('{id}/versions/{version}')
  @Security('caller', ['protocol:read'])
  public async getProtocolVersion(@Path() id: string, @Path() version: number): Promise<ProtocolVersion> {
    return addEtag(this.response, await readProtocolVersion(this.ctx.db, id, version), version);
  }
}
