import { Body, Delete, Get, Path, Post, Queries, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { isUuid } from '../../database/uuid.ts';
import { errors } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type {
  AccountBlockers,
  FoundUser,
  NewProfile,
  Nothing,
  PeopleAsked,
  PeopleShown,
  UserAccount,
  UserProfile,
} from './people.model.ts';
import { findAccount, findProfile, listColleagues, listPeople, searchPeople } from './people.queries.ts';
import { blockersOf, deleteAccount, writeProfile } from './people.service.ts';

interface PeopleQuery {
  /**
   * Part of a name, or a whole address. Without it: the people of your organizations.
   * @maxLength 320
   */
  query?: string;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  limit?: number;
  /**
   * @isInt
   * @minimum 0
   */
  offset?: number;
}

@Route('api/v1/users')
@Tags('People')
export class PeopleController extends ApiController {
  /** Finds people who have an active profile. */
  @Get('search')
  @Security('caller')
  public async search(@Queries() query: PeopleQuery): Promise<FoundUser[]> {
    const asked = {
      viewerId: this.caller.userId,
      query: query.query?.trim() ?? '',
      limit: query.limit ?? 50,
      offset: query.offset ?? 0,
    };
    return asked.query === '' ? listColleagues(this.ctx.db, asked) : searchPeople(this.ctx.db, asked);
  }

  /** Writes your profile: what is absent keeps its value. */
  @Post('profile')
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async writeProfile(@Body() body: NewProfile): Promise<Nothing> {
    this.setStatus(201);
    await writeProfile(this.ctx, this.caller, body);
    return {};
  }

  /** Names and avatars by id, in the order of the request. Unknown ids are left out. */
  @Post('metadata')
  @Security('caller')
  public async metadata(@Body() body: PeopleAsked): Promise<PeopleShown> {
    const ids = [...new Set(body.userIds.filter((id) => isUuid(id)).map((id) => id.toLowerCase()))];
    return { users: await listPeople(this.ctx.db, ids), success: true };
  }

  /** An account. */
  @Get('{id}')
  @Security('caller')
  public async get(@Path() id: string): Promise<UserAccount> {
    const account = await findAccount(this.ctx.db, id, this.caller.userId);
    if (!account) throw errors.userNotFound();
    return account;
  }

  /**
   * Closes your account. 409 lists what keeps it open.
   * @param deleteOwned Deletes with it the private resources that nobody else can reach.
   */
  @Delete('{id}')
  @Security('caller')
  public async remove(@Path() id: string, @Query() deleteOwned?: boolean): Promise<null> {
    this.refuseOthers(id);
    await deleteAccount(this.ctx, this.caller, deleteOwned ?? false);
    return null;
  }

  /** A profile. */
  @Get('{id}/profile')
  @Security('caller')
  public async profile(@Path() id: string): Promise<UserProfile> {
    const profile = await findProfile(this.ctx.db, id);
    if (!profile) throw errors.userNotFound();
    return profile;
  }

  /** What keeps your account from being deleted, and who could take it over. */
  @Get('{id}/deletion-blockers')
  @Security('caller')
  public async deletionBlockers(@Path() id: string): Promise<AccountBlockers> {
    this.refuseOthers(id);
    return blockersOf(this.ctx.db, this.caller.userId);
  }

  private refuseOthers(id: string): void {
    if (id.toLowerCase() !== this.caller.userId) throw errors.notYourAccount();
  }
}
