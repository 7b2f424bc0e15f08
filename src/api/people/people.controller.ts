import { Body, Delete, Get, Path, Post, Queries, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { isUuid } from '../../database/uuid.ts';
import { errors, refuse } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { FoundUser } from '../directory/directory.model.ts';
import { findPeople } from '../directory/directory.service.ts';
import type { AccountBlockers, NewProfile, Nothing, PeopleAsked, PeopleShown, UserAccount, UserProfile } from './people.model.ts';
import { findAccount, findProfile, listPeople } from './people.queries.ts';
import { listBlockers, deleteAccount, writeProfile } from './people.service.ts';

interface PeopleQuery {
  /**
   * Part of a name, part of the address of somebody in your organizations, or a whole address, at most 320 characters. Without it: the people of
   * your organizations.
   * @maxLength 320
   */
  query?: string;
  /**
   * Rows at most, 1 to 100; 50 by default.
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  limit?: number;
  /**
   * Rows to skip before the first; 0 by default.
   * @isInt
   * @minimum 0
   */
  offset?: number;
}

@Route('api/v1/users')
@Tags('People')
export class PeopleController extends ApiController {
  /**
   * For everybody who is signed in. Finds people who have an active profile by name, or by their whole address; without `query`, the people of your
   * organizations.
   * @summary Find people
   */
  @Get('search')
  @Security('caller')
  public async searchUsers(@Queries() query: PeopleQuery): Promise<FoundUser[]> {
    return findPeople(this.ctx, this.caller, { ...query, limit: query.limit ?? 50 });
  }

  /**
   * For yourself. Names are needed; what else is absent keeps its value. `activated` false hides you from searches and ends your sessions.
   * @summary Write your profile
   */
  @Post('profile')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async saveProfile(@Body() body: NewProfile): Promise<Nothing> {
    return writeProfile(this.ctx, this.caller, body);
  }

  /**
   * For everybody who is signed in. Answers them in the order of the request; unknown ids are left out.
   * @summary Read names and pictures of many people
   */
  @Post('metadata')
  @Security('caller')
  public async lookUpUsers(@Body() body: PeopleAsked): Promise<PeopleShown> {
    const ids = [...new Set(body.userIds.filter((id) => isUuid(id)).map((id) => id.toLowerCase()))];
    return { users: await listPeople(this.ctx.db, ids), success: true };
  }

  /**
   * For everybody who is signed in. The address is shown only of yourself and of people you share an organization or a resource with. Nobody of that
   * id is USER_NOT_FOUND (404).
   * @summary Read an account
   */
  @Get('{id}')
  @Security('caller')
  public async getUser(@Path() id: string): Promise<UserAccount> {
    return this.answer((await findAccount(this.ctx.db, id, this.caller.userId)) ?? refuse(errors.userNotFound()));
  }

  /**
   * Only for yourself, else NOT_YOUR_ACCOUNT (403). What identifies you goes; what you made stays as by "Deleted User". While nobody else answers for
   * a resource or organization of yours, it refuses with ACCOUNT_BLOCKED (409), which lists them. There is no way back.
   * @summary Close your account
   * @param deleteOwned Deletes with it the private resources that nobody else can reach; false by default.
   */
  @Delete('{id}')
  @Security('caller')
  public async deleteUser(@Path() id: string, @Query() deleteOwned?: boolean): Promise<null> {
    this.refuseOthers(id);
    await deleteAccount(this.ctx, this.caller, this.readTarget({ deleteOwned: deleteOwned ?? false }));
    return null;
  }

  /**
   * For everybody who is signed in. Nobody of that id is USER_NOT_FOUND (404).
   * @summary Read a profile
   */
  @Get('{id}/profile')
  @Security('caller')
  public async getUserProfile(@Path() id: string): Promise<UserProfile> {
    return this.answer((await findProfile(this.ctx.db, id)) ?? refuse(errors.userNotFound()));
  }

  /**
   * Only for yourself, else NOT_YOUR_ACCOUNT (403). Answers the resources and organizations that nobody else answers for, and who could take each
   * resource over.
   * @summary List what keeps your account open
   */
  @Get('{id}/deletion-blockers')
  @Security('caller')
  public async getUserDeletionBlockers(@Path() id: string): Promise<AccountBlockers> {
    this.refuseOthers(id);
    return listBlockers(this.ctx.db, this.caller.userId);
  }

  private refuseOthers(id: string): void {
    if (id.toLowerCase() !== this.caller.userId) throw errors.notYourAccount();
  }
}
