import type { LongText, SpacedName, Uuid } from '../sharing/sharing.model.ts';

/** `private`: for the owning organization and those it is shared with. `public`: for everybody who is signed in to read. */
export type Visibility = 'private' | 'public';
/** `all`: everything that you may read. `related`: without what you can read only because it is public. */
export type ListScope = 'all' | 'related';

/** What the caller may do with a resource: hints for a client; every route decides for itself. */
export interface ResourceCapabilities {
  /** Of an experiment: sending data, uploading and annotating. Of other things: the same as `canUpdate`. */
  canContribute: boolean;
  /** Changing what it says. */
  canUpdate: boolean;
  /** Deleting it, and everything else that is for owners and admins. */
  canManage: boolean;
  /** Giving others access, and taking it away. */
  canShare: boolean;
  /** A direct grant is held, and can be given up. */
  canLeave: boolean;
  /** Moving it to another organization. */
  canTransfer: boolean;
}

/** A change of who may read. */
export interface VisibilityPatch {
  /** `public` opens it to everybody who is signed in, for good. `private` is refused for what is public. */
  visibility: Visibility;
}

/** Who may read from now on. */
export interface VisibilityState {
  /** What was asked about. */
  id: string;
  /** How it is now. */
  visibility: Visibility;
}

/** Types that are kept in a library and used by experiments. */
export type LibraryType = 'protocol' | 'macro' | 'workbook';

export interface PageQuery {
  /**
   * Page to answer, counted from 1; 1 by default.
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * Rows of one page, 1 to 100; 100 by default.
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

export interface LongPageQuery {
  /**
   * Page to answer, counted from 1; 1 by default.
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * Rows of one page, 1 to 1,000; 1,000 by default.
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  pageSize?: number;
}

/** Which table is asked for. */
export interface TableAsked {
  /**
   * `raw_data`, `device`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
}

export interface LibraryListQuery extends PageQuery {
  /**
   * Deprecated: `my` is an old name of `scope=related`.
   */
  filter?: 'my';
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. `all` by default. */
  scope?: ListScope;
  /**
   * Words of a name or description, its maker, language or family, at most 200 characters; the beginning of a word is enough and small misspellings
   * are forgiven.
   * @maxLength 200
   */
  search?: string;
}

/** Which of the things that they may read a person asks for. */
export interface ListQuery {
  filter?: string | undefined;
  scope?: ListScope | undefined;
  search?: string | undefined;
}

/** Which of them a person is shown. */
export interface ListFilter {
  userId: string;
  scope: ListScope;
  search: string | undefined;
}

/** What protocols, macros and workbooks have in common. */
export interface LibraryResource {
  /** Names it in every address. */
  id: string;
  /** What people call it; need not be unique. */
  name: string;
  /** What it is for; null without one. */
  description: string | null;
  organizationId: string;
  organizationName: string | null;
  visibility: Visibility;
  createdBy: string;
  /** First and last name of who made it. */
  createdByName: string;
  /** What this was copied from; null when that is nothing, or gone. */
  forkedFrom: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** What you may do with it. In answers to a GET of one; absent elsewhere. */
  capabilities?: ResourceCapabilities;
}

/** What protocols, macros and workbooks are made with. */
export interface NewLibraryResource {
  /** What people call it: 1 to 255 characters; spaces around it are cut off. Names need not be unique. */
  name: SpacedName;
  /** What it is for, at most 100,000 characters. */
  description?: LongText;
  /** What it is a copy of: something of the same type that you may read. */
  forkedFrom?: Uuid;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
  /** `private` unless stated otherwise; `public` cannot be taken back. */
  visibility?: Visibility;
}

/** Changes; fields that are left out keep their value. */
export interface LibraryResourcePatch {
  /** What people call it: 1 to 255 characters; spaces around it are cut off. */
  name?: SpacedName;
  /** What it is for, at most 100,000 characters; null takes it away. */
  description?: LongText;
}
