import { Body, Delete, Get, Patch, Path, Post, Queries, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { readPageQuery, addEtag, readPageOrWhole } from '../../http/answers/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { LibraryListQuery, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { countLibrary, makeFilter, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import type { ListPage } from '../sharing/sharing.model.ts';
import { countVersions, listVersions } from './versions.queries.ts';
import { readVersion } from './versions.service.ts';
import type {
  NewWorkbook,
  Workbook,
  WorkbookListItem,
  WorkbookPatch,
  WorkbookProblems,
  WorkbookVersion,
  WorkbookVersionSummary,
} from './workbooks.model.ts';
import { findWorkbook, listWorkbooks } from './workbooks.queries.ts';
import { createWorkbook, patchWorkbook, loadProblems } from './workbooks.service.ts';

@Route('api/v1/workbooks')
@Tags('Workbooks and flows')
export class WorkbooksController extends ApiController {
  /**
   * Answers the workbooks that you may read, by name; with `search`, best match first, also by what they use and who uses them. X-Total-Count says
   * how many there are, exactly up to 10,000 or with `Prefer: count=exact`, and Link leads to the other pages.
   * @summary List the workbooks you may read
   */
  @Get()
  @Security('caller')
  public async listWorkbooks(@Queries() query: LibraryListQuery): Promise<WorkbookListItem[]> {
    const filter = makeFilter(this.caller.userId, query);
    const page = readPageQuery(query);
    return this.answerPage(page, listWorkbooks(this.ctx.db, filter, page), countLibrary(this.ctx.db, 'workbook', filter, this.countLimit));
  }

  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. It is private unless stated otherwise. Cells
   * that cannot be, and questions whose answers would have one column, refuse with INVALID_INPUT (400). NOT_A_MEMBER (403) for an organization of
   * others.
   * @summary Create a workbook
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createWorkbook(@Body() body: NewWorkbook): Promise<Workbook> {
    return createWorkbook(this.ctx, this.caller, body);
  }

  /**
   * For everybody who may read the workbook. Answers it with its cells, and what you may do with it.
   * @summary Read one workbook
   */
  @Get('{id}')
  @Security('caller', ['workbook:read'])
  public async getWorkbook(@Path() id: string): Promise<Workbook> {
    return this.answerWithCapabilities('workbook', id, findWorkbook(this.ctx.db, id));
  }

  /**
   * Only for owners and admins of the workbook. Fields that are left out keep their value; cells and metadata are replaced as a whole. It makes no
   * version: experiments keep the one that they follow. With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Change a workbook
   */
  @Patch('{id}')
  @Security('caller', ['workbook:update'])
  public async updateWorkbook(@Path() id: string, @Body() body: WorkbookPatch): Promise<Workbook> {
    return this.answer(await patchWorkbook(this.ctx, this.caller, this.readTarget({ id }), body));
  }

  /**
   * Only for owners and admins of the workbook. Experiments that follow one of its versions keep that version and their flow. With `If-Match`, a
   * newer version refuses with PRECONDITION_FAILED (412).
   * @summary Delete a workbook
   */
  @Delete('{id}')
  @Security('caller', ['workbook:manage'])
  public async deleteWorkbook(@Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, this.readTarget({ type: 'workbook', id }));
  }

  /**
   * Only for owners and admins of the workbook. Everybody who is signed in may then read it. There is no way back: `private` for a public workbook
   * refuses with VISIBILITY_NOT_MONOTONIC (409). With `If-Match`, a newer version refuses with PRECONDITION_FAILED (412).
   * @summary Make a workbook public
   */
  @Patch('{id}/visibility')
  @Security('caller', ['workbook:manage'])
  public async setWorkbookVisibility(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, this.readTarget({ type: 'workbook', id }), body.visibility);
  }

  /**
   * For everybody who may read the workbook. Answers what would stop it from working in the field, as you would meet it: missing references, dangling
   * branches, reserved names, more code than a version keeps.
   * @summary List the problems of a workbook
   */
  @Get('{id}/problems')
  @Security('caller', ['workbook:read'])
  public async listWorkbookProblems(@Path() id: string): Promise<WorkbookProblems> {
    return loadProblems(this.ctx, this.caller, id);
  }

  /**
   * For everybody who may read the workbook. Newest first. Attaching it to an experiment and upgrading make versions. Without `page` and `pageSize`
   * at most 1,000 are answered.
   * @summary List the versions of a workbook
   */
  @Get('{id}/versions')
  @Security('caller', ['workbook:read'])
  public async listWorkbookVersions(@Path() id: string, @Queries() query: ListPage): Promise<WorkbookVersionSummary[]> {
    const page = readPageOrWhole(query);
    return this.answerPage(page, listVersions(this.ctx.db, id, page), countVersions(this.ctx.db, id));
  }

  /**
   * For everybody who may read the workbook. Answers its cells, and what it keeps of the protocols and macros that it uses. A version never changes.
   * One of another workbook is WORKBOOK_VERSION_NOT_FOUND (404).
   * @summary Read one version of a workbook
   * @param versionId Version, by its UUID.
   */
  @Get('{id}/versions/{versionId}')
  @Security('caller', ['workbook:read'])
  public async getWorkbookVersion(@Path() id: string, @Path() versionId: string): Promise<WorkbookVersion> {
    const version = await readVersion(this.ctx.db, id, versionId);
    return addEtag(this.response, version, version.version);
  }
}
