/**
 * Every failure that a caller can see. An entry holds the HTTP status and the sentence that a person reads. Its key is the stable code (`experimentNotFound`
 * goes out as `EXPERIMENT_NOT_FOUND`). Throw with `throw errors.invalidId('id')`; `http/answers/errors.ts` renders RFC 9457.
 */
export interface Problem {
  /** The place: `/name`, `?filters/2/value`. Never the submitted value. */
  path: string;
  message: string;
}

interface Details {
  problems?: readonly Problem[];
  /** Seconds, sent as Retry-After. */
  retryAfter?: number;
  headers?: Readonly<Record<string, string>>;
  /** Extra members of the problem document. */
  members?: Readonly<Record<string, unknown>>;
  cause?: unknown;
  /** Logged in place of the stack, where they say more; never sent. */
  facts?: Readonly<Record<string, unknown>>;
}

/** A start that cannot go on; its message is the one sentence that is printed before the process ends. */
export class StartError extends Error {}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  details: Details = {};

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }

  with(details: Details): this {
    this.details = { ...this.details, ...details };
    return this;
  }
}

interface Entry<A extends readonly unknown[]> {
  status: number;
  sentence: (...args: A) => string;
  /** Published in place of a sentence that is another one each time. */
  about?: string;
}

function say(status: number, sentence: string): Entry<[]>;
function say<A extends readonly unknown[]>(status: number, sentence: (...args: A) => string, about?: string): Entry<A>;
function say(status: number, sentence: string | ((...args: unknown[]) => string), about?: string): Entry<unknown[]> {
  return { status, sentence: typeof sentence === 'string' ? () => sentence : sentence, about };
}

const readable = (type: string) => type.replace('_', ' ');

const catalogue = {
  // who calls
  unauthorized: say(401, 'Sign in, or send an API key: as x-api-key, or as Authorization: Bearer.'),
  apiKeysDiffer: say(400, 'The API keys in x-api-key and Authorization are not the same; send one.'),
  apiKeyUnknown: say(401, 'This API key is unknown, expired or revoked; make another.'),
  apiKeyMalformed: say(403, 'This is not a fieldlake API key: its prefix, length, alphabet or checksum is wrong. Copy it whole.'),
  apiKeyNotAccepted: say(401, 'API keys are not accepted on account-management routes; sign in instead.'),
  rateLimited: say(429, (seconds: number) => `Too many requests. Try again in ${seconds} s.`),
  originNotTrusted: say(
    403,
    'A write that is authenticated by a cookie must come from a page at the BASE_URL of the service or at one of its TRUSTED_ORIGINS.',
  ),
  originMissing: say(403, 'A write that carries a cookie must say where it comes from, in an Origin header.'),
  sessionNotFresh: say(403, 'Sign in again: this needs a session that was begun less than a day ago.'),
  invalidEmail: say(400, 'This is not an email address that can be written to.'),
  invalidOtp: say(400, 'This code is wrong or was used already; look again, or ask for a new one.'),
  otpExpired: say(400, 'This code has expired; ask for a new one.'),
  tooManyAttempts: say(403, 'This code was tried wrongly too often; ask for a new one.'),
  nameRequired: say(400, 'An API key needs a name.'),
  invalidNameLength: say(400, 'The name of an API key has 1 to 32 characters.'),
  expiresInIsTooSmall: say(400, 'An API key lives at least one day.'),
  expiresInIsTooLarge: say(400, 'An API key that expires does so within 365 days of its creation.'),
  noValuesToUpdate: say(400, 'Give a name, enabled or expiresIn.'),
  keyNotFound: say(404, 'You have no such API key.'),
  apiKeyRevoked: say(409, 'This API key is revoked; make a new one.'),
  tooManyApiKeys: say(
    409,
    (most: number) => `You have ${most} API keys that are not revoked, which is the most that a person can have; revoke some first.`,
  ),
  signInLinkInvalid: say(400, 'This link was used already, has expired or is not ours; a start of the service prints a new one.'),
  signInLinkElsewhere: say(403, 'This link works only on the machine that the service runs on.'),
  providerNotFound: say(404, 'This sign-in provider is not available here.'),
  invalidCallbackUrl: say(403, 'callbackURL must be a path of ours or a URL on a trusted origin.'),
  invalidErrorCallbackUrl: say(403, 'errorCallbackURL must be a path of ours or a URL on a trusted origin.'),
  invalidNewUserCallbackUrl: say(403, 'newUserCallbackURL must be a path of ours or a URL on a trusted origin.'),
  accountNotFound: say(400, 'No such provider is linked to your account.'),
  failedToUnlinkLastAccount: say(400, 'This is the only way to sign in to your account; add a passkey or link a provider first.'),
  challengeNotFound: say(400, 'This ceremony was not begun in this browser, has expired or was ended already; begin again.'),
  failedToVerifyRegistration: say(400, 'The passkey could not be verified; begin again.'),
  previouslyRegistered: say(400, 'This passkey is registered already.'),
  passkeyNotFound: say(404, 'You have no such passkey.'),
  passkeyUnknown: say(401, 'This passkey is not registered here; sign in by a code, and register it.'),
  authenticationFailed: say(401, 'The passkey could not be verified; begin again, or sign in by a code.'),
  emailCanNotBeUpdated: say(400, 'The address of an account cannot be changed here.'),
  webhookSignatureInvalid: say(401, 'The webhook signature is missing, wrong, too old or already used.'),
  // what the caller may see and do
  invalidId: say(400, (name: string) => `${name} is not a UUID.`),
  unknownResourceType: say(400, 'The resource type must be experiment, macro, protocol, workbook, device or device_group.'),
  resourceNotFound: say(404, (type: string) => `There is no such ${readable(type)}.`),
  actionDenied: say(
    403,
    (action: string, type: string) => `You may not ${action}${action === 'contribute' ? ' to' : ''} this ${readable(type)}.`,
  ),
  newsletterLinkInvalid: say(400, 'This link has expired or was not made by us; subscribe again for a new one.'),
  flowNotFound: say(404, 'This experiment has no flow.'),
  metadataNotFound: say(404, 'There is no such metadata record in this experiment.'),
  dashboardNotFound: say(404, 'There is no such dashboard in this experiment.'),
  visualizationNotFound: say(404, 'There is no such visualization in this experiment.'),
  organizationNotFound: say(404, 'There is no such organization.'),
  webhookNotFound: say(404, 'There is no such webhook in this organization.'),
  webhookDeliveryNotFound: say(404, 'There is no such delivery of this webhook; deliveries are kept for a limited time.'),
  webhookLimitReached: say(409, (most: number) => `An organization can have at most ${most} webhooks.`),
  webhookDisabled: say(409, 'This webhook is disabled; enable it first.'),
  webhookDeliveryPending: say(409, 'This delivery is still being tried.'),
  membersOnly: say(403, 'Only members of this organization may see that.'),
  adminsOnly: say(403, 'Only owners and admins of this organization may do that.'),
  notYourRequest: say(403, 'Only the person who made a join request may take it back.'),
  invitationUnknown: say(404, 'There is no such invitation.'),
  notYourAccount: say(403, 'Only the person whose account it is may do that.'),
  userNotFound: say(404, 'There is no such person.'),
  // organization management, by the codes that the common client knows
  noActiveOrganization: say(400, 'Name the organization with organizationId; none is ever active on a session.'),
  userIsNotAMemberOfTheOrganization: say(400, 'There is no such organization, or the person is not a member of it.'),
  youAreNotAMemberOfThisOrganization: say(403, 'There is no such organization, or you are not a member of it.'),
  youAreNotAllowedToUpdateThisOrganization: say(403, 'Only owners may change an organization.'),
  youAreNotAllowedToDeleteThisOrganization: say(403, 'Only owners may delete an organization.'),
  youAreNotAllowedToDeleteThisMember: say(403, 'You may not remove this member.'),
  youAreNotAllowedToUpdateThisMember: say(403, 'You may not change the role of this member.'),
  youAreNotAllowedToInviteUsersToThisOrganization: say(403, 'Only owners and admins may invite people and see invitations.'),
  youAreNotAllowedToInviteUserWithThisRole: say(403, 'Only an owner may make somebody an owner.'),
  youAreNotAllowedToCancelThisInvitation: say(403, 'Only owners and admins may cancel invitations.'),
  youAreNotAllowedToCreateTeamsInThisOrganization: say(403, 'Only owners and admins may make teams.'),
  youAreNotAllowedToUpdateThisTeam: say(403, 'Only owners and admins may change teams.'),
  youAreNotAllowedToDeleteThisTeam: say(403, 'Only owners and admins may delete teams.'),
  youAreNotAllowedToCreateANewTeamMember: say(403, 'Only owners and admins may put people into teams.'),
  youAreNotAllowedToRemoveATeamMember: say(403, 'Only owners and admins may take people out of teams.'),
  youAreNotTheRecipientOfTheInvitation: say(403, 'This invitation is addressed to somebody else.'),
  emailVerificationRequiredForInvitation: say(403, 'Prove your address first: sign in by a code that is sent there.'),
  organizationMembershipLimitReached: say(403, 'The organization has 100 members, which is the most that it can have.'),
  invitationLimitReached: say(403, 'The organization has 100 pending invitations, which is the most that it can have; cancel some first.'),
  userIsNotAMemberOfTheTeam: say(400, 'There is no such team, or the person is not in it.'),
  userIsAlreadyAMemberOfThisOrganization: say(400, 'This person is a member already.'),
  userIsAlreadyInvitedToThisOrganization: say(400, 'This address is invited already; use resend to send it again.'),
  memberNotFound: say(400, 'There is no such member.'),
  teamNotFound: say(400, 'There is no such team in this organization.'),
  roleNotFound: say(400, 'A role is exactly one of owner, admin and member.'),
  invitationNotFound: say(400, 'There is no such pending invitation.'),
  slugInvalid: say(400, 'A slug has lower-case letters and digits, with single hyphens between them, and at most 255 characters.'),
  slugReserved: say(400, 'A slug may not begin with personal-.'),
  organizationAlreadyExists: say(409, 'An organization with this slug exists already.'),
  organizationSlugAlreadyTaken: say(409, 'This slug is taken.'),
  personalWorkspace: say(400, 'This is a personal workspace: it cannot be changed, shared, left or deleted.'),
  youCannotLeaveTheOrganizationAsTheOnlyOwner: say(400, 'The organization would be left without an owner.'),
  youCannotLeaveTheOrganizationWithoutAnOwner: say(400, 'The organization would be left without an owner.'),
  organizationOwnsResources: say(409, (counted: string) => `The organization still owns ${counted}; move or delete that first.`),
  joinRequestNotFound: say(404, 'There is no such join request.'),
  notAMember: say(403, 'You cannot create resources in an organization that you are not a member of.'),
  transferDenied: say(403, 'Only an owner or admin of the organization that owns a resource may move it away.'),
  grantNotFound: say(404, 'There is no such grant on this resource.'),
  tableDenied: say(
    403,
    (table: string) =>
      `Reading table '${table}' needs the contribute action on this experiment, which members of its organization and people with a grant have.`,
  ),
  namesDenied: say(403, 'Only who manages the experiment may export real names; leave anonymizeContributors out, or set it to true.'),
  // input
  invalidInput: say(400, 'The request is not valid; see errors.'),
  textHoldsNul: say(400, 'Text may not hold the NUL character.'),
  malformedJson: say(400, 'The request body is not valid JSON.'),
  undecodableBody: say(400, 'The request body is not what its Content-Encoding says.'),
  queryRefused: say(
    400,
    (sentence: string) => sentence,
    'The request cannot be carried out as it is; the answer says which part of it, and what that may be.',
  ),
  readTooLarge: say(
    400,
    'This takes more memory than the engine has for all who read. Narrow it by filters, fewer rows or fewer columns, or try again later.',
  ),
  sumTooLarge: say(400, 'A sum or mean of these rows needs more than 38 digits. Filter or group the rows so that fewer are added up.'),
  notHttp: say(400, 'This is not an HTTP request that can be understood.'),
  hostInvalid: say(400, 'A request names its host once, in one Host header.'),
  requestTooSlow: say(408, 'The request did not arrive in time.'),
  headersTooLarge: say(
    431,
    'The address and headers of the request are longer than 64 kB. Filters with long lists can be sent in the body of an export: POST …/data/exports.',
  ),
  payloadTooLarge: say(413, (limit: string) => `The request is larger than ${limit}.`),
  fileTooLarge: say(
    413,
    (name: string, limit: string) => `The file '${name}' is larger than ${limit}, which is the most that one file of its kind may be.`,
  ),
  unsupportedMediaType: say(415, (accepted: string) => `The content type must be ${accepted}.`),
  unsupportedEncoding: say(415, (accepted: string) => `The Content-Encoding must be ${accepted}.`),
  notAcceptable: say(406, (offered: string) => `This can be answered as ${offered}.`),
  // state
  routeNotFound: say(404, 'There is nothing at this path; /docs/api shows what there is.'),
  methodNotAllowed: say(405, 'This path does not answer that method; Allow names those that it does.'),
  preconditionFailed: say(412, 'The resource has changed since you read it; read it again, and send the change with its new ETag.'),
  idempotencyKeyInvalid: say(400, 'Idempotency-Key must be 1 to 255 printable ASCII characters.'),
  idempotencyKeyReused: say(422, 'This Idempotency-Key was used with another body; a new request needs a new key.'),
  idempotencyInProgress: say(409, 'The first call with this Idempotency-Key is still running; send it again in a moment.'),
  alreadyDone: say(409, (what: string) => `This was already done: ${what}. Its answer carried a secret and is not kept.`),
  experimentArchived: say(409, 'This experiment is archived; un-archive it first.'),
  tooManyLocations: say(409, (most: number) => `An experiment holds at most ${most} locations.`),
  metadataFull: say(
    409,
    'The metadata records of an experiment hold at most 100 tables, 50,000,000 characters, and 5,000,000 cells, which are their rows by their columns, together.',
  ),
  visualizationIncomplete: say(409, (what: string) => `This visualization is a draft and cannot be drawn yet: ${what}.`),
  flowExists: say(409, 'This experiment has a flow; replace it with PUT.'),
  visibilityNotMonotonic: say(409, 'What is public cannot be made private again.'),
  embargoOfPublic: say(400, 'A public experiment has no embargo; make it private, or leave the embargo out.'),
  embargoNotEditable: say(409, 'An embargo can be set only while the experiment is private.'),
  embargoOutOfRange: say(400, 'The embargo must end between tomorrow and 365 days from now.'),
  memberUnknown: say(400, 'One of the members is not an active user.'),
  webhookReplayed: say(409, 'This delivery was carried out already; result says what it made.'),
  transferAlreadyRequested: say(409, (status: string) => `You have already asked for this project; the request is ${status}.`),
  noAddress: say(400, 'Your account has no email address to write to.'),
  accountBlocked: say(409, 'Your account cannot be deleted yet: nobody else answers for what is listed in resources and organizations.'),
  invitationEnded: say(409, 'This invitation was accepted or revoked already.'),
  alreadyGranted: say(409, 'The account of this address holds a direct grant already.'),
  accountExists: say(409, 'This address has an account already; share with the person instead.'),
  tooManyTransferRequests: say(
    409,
    (most: number) => `You have asked for ${most} projects that have not come yet, which is the most that you can; wait for some.`,
  ),
  tooManyInvitations: say(409, '100 invitations are pending here, which is the most that there can be; revoke some first.'),
  invitationBudgetSpent: say(429, 'You have sent as many invitations to the service as one person may in a day; go on tomorrow.'),
  alreadyContributor: say(409, 'You may contribute to this experiment already.'),
  requesterCameIn: say(409, 'The person may contribute already; the request is closed.'),
  alreadyMember: say(409, 'You are a member already.'),
  joinRequestDecided: say(409, 'This join request was decided or cancelled already.'),
  organizationFull: say(409, 'The organization has 100 members, which is the most that it can have.'),
  granteeNotFound: say(
    400,
    'There is no such person, team or organization that you could share this with. A team gets what its own organization has: move it there first.',
  ),
  lastAdmin: say(409, 'This would leave the resource without anyone who answers for it; make somebody else an admin first.'),
  notTransferable: say(400, (type: string) => `A ${readable(type)} cannot be moved to another organization.`),
  alreadyThere: say(400, 'The resource already belongs to that organization.'),
  resourceMoved: say(409, 'The resource has moved to another organization meanwhile; read it again.'),
  handoverRefused: say(403, 'There is no such resource, or you may not share it.'),
  handoverNotBlocking: say(409, 'This resource does not keep your account from being deleted; share it instead.'),
  workbookVersionNotFound: say(404, 'This workbook has no such version.'),
  codeVersionNotFound: say(404, 'There is no such version of this code.'),
  noWorkbookAttached: say(400, 'This experiment does not have an attached workbook.'),
  workbookNotPublishable: say(
    403,
    (type: string, id: string) => `This workbook uses ${type} ${id}, which you may not read, so you cannot publish it.`,
  ),
  workbookTooLarge: say(
    409,
    (size: number, most: number) =>
      `The protocols and macros of this workbook have ${size} bytes of code; ${most} are the most that a version keeps. Shorten them, or use fewer.`,
  ),
  tableNotFound: say(404, (table: string, near: string = '') => `There is no table '${table}' in this experiment.${near}`),
  tableNameTaken: say(409, (name: string) => `This experiment already has a table named '${name}'.`),
  tableDeleted: say(410, 'The table that this was meant for is gone.'),
  tableNotUploaded: say(
    400,
    (table: string) => `Table '${table}' was not uploaded: it is made by the service, and cannot be removed or changed like this.`,
  ),
  columnNotFound: say(404, (column: string) => `This table has no column '${column}'.`),
  columnFixed: say(
    400,
    (column: string) =>
      `'${column}' is no column that a file brought, or cannot be the name of one: every upload table has the same first columns, and a name that ends in __text holds odd values.`,
  ),
  columnNameTaken: say(409, (name: string) => `This table has a column '${name}' already, or keeps odd values there.`),
  columnChangeRunning: say(409, 'A column of this table is being changed already; wait until that is done.'),
  columnChangeNotFound: say(404, 'This table has no such change of a column.'),
  tableVersionUnknown: say(404, (asked: number, newest: number) => `The table has no version ${asked} yet; its newest is ${newest}.`),
  tableVersionGone: say(410, 'That version of the table is no longer kept; read a newer one.'),
  sourceChanged: say(409, 'The table changed while this was being written; try again.'),
  rowsNotFound: say(404, (rows: string, table: string) => `Table '${table}' has no row ${rows}.`),
  macroNotUsable: say(404, 'There is no such macro, or none that this experiment may run.'),
  macroNotAllowed: say(403, 'Only what is public, of the workbook in use or allowed by a manager runs on new measurements.'),
  reprocessNotFound: say(404, 'This macro was not asked to run again under that id in this experiment.'),
  macroNotOnNew: say(404, 'This macro does not run on new measurements of this experiment.'),
  reprocessRunning: say(409, 'This macro is being run over this experiment already; wait until that is done.'),
  sheetFull: say(
    400,
    (rows: number, most: number) =>
      `The file would have ${rows.toLocaleString('en')} rows; a sheet holds ${most.toLocaleString('en')}. Narrow it by filters, or take CSV or Parquet.`,
  ),
  exportNotFound: say(404, 'There is no such export in this experiment.'),
  exportsFull: say(409, (held: string) => `You have ${held}, which is as much as one person may have; remove some of your exports first.`),
  exportNotYours: say(403, 'Another person made this export; removing it needs the manage action on the experiment.'),
  exportNotReady: say(409, 'The file is still being written; try again in a moment.'),
  exportFailed: say(409, (reason: string) => `This export failed: ${reason}`),
  exportCancelled: say(409, 'This export was cancelled.'),
  exportExpired: say(410, 'The file of this export is no longer kept; make a new one.'),
  exportWithdrawn: say(409, 'The experiment was anonymised after this file with real names was made; make a new one.'),
  rangeNotSatisfiable: say(416, 'The range lies outside the file.'),
  annotationNotFound: say(404, 'There is no such annotation in this experiment.'),
  annotationNotYours: say(403, 'Another person wrote this annotation; changing it needs the manage action on the experiment.'),
  uploadNotFound: say(404, 'There is no such upload in this experiment.'),
  erasureNotFound: say(404, 'There is no such erasure of yours.'),
  uploadRunning: say(409, 'This upload is still being read; wait until it has ended.'),
  tableBusy: say(409, 'Another upload of this table is being read or taken back; try again when it has ended.'),
  uploadRefused: say(
    400,
    (sentence: string) => sentence,
    'The upload cannot be taken as it is; the answer says what is wrong with its files, its fields or their order.',
  ),
  objectNotFound: say(404, 'There is no such object.'),
  objectMismatch: say(400, (what: string) => `The bytes that arrived do not have the ${what} that was announced; send them again, whole.`),
  objectExists: say(409, 'This object has been written already.'),
  objectUrlInvalid: say(403, 'This URL has expired, was used already, or was not signed by this service.'),
  conflict: say(409, 'The change conflicts with the current state; read that again.'),
  // devices
  tooManyBindings: say(409, (most: number) => `A device can be bound to at most ${most} experiments.`),
  serialTaken: say(409, 'A device of this type with this serial number is registered already.'),
  installTaken: say(409, 'This installation is registered to another account.'),
  experimentUnreadable: say(403, 'This device is bound to an experiment that you may not read; ask somebody who may to onboard it.'),
  notAttached: say(404, 'This device is not attached to this experiment.'),
  tooManySelected: say(400, (most: number) => `At most ${most} devices at once; name them in deviceIds.`),
  rangeInvalid: say(400, (sentence: string) => sentence, 'The span of time is empty or too long; the answer says how long it may be.'),
  firmwareUnavailable: say(404, 'There are no firmware releases for this family.'),
  deviceBusy: say(409, 'Another change of this device is still running; try again shortly.'),
  deviceStateRefused: say(
    409,
    (sentence: string) => sentence,
    'What is asked does not fit the state that the device or its certificate is in; the answer says which.',
  ),
  csrInvalid: say(400, (sentence: string) => `The certificate signing request cannot be used: ${sentence}.`),
  thingNotFound: say(404, 'The device registry does not know this device.'),
  certificateNotFound: say(404, 'The device registry does not know this certificate.'),
  registryRefused: say(400, 'The device registry refused the request as not valid.'),
  registryConflict: say(409, 'The device registry holds something else under this name; try again shortly.'),
  registryUnavailable: say(503, 'The device registry cannot be reached right now; try again shortly.'),
  registryMisconfigured: say(
    500,
    'The device registry does not accept our credentials or configuration; whoever runs the service has to mend them.',
  ),
  // failures that are not the caller's
  storageFull: say(503, 'The service has no room left to write, or its disk may only be read; nothing of this was kept. Try again later.'),
  lakeFileUnreadable: say(
    500,
    (table: string) =>
      `Table '${table}' cannot be read: a file of it, or of what is shown beside it, is damaged or missing. Whoever runs the service has to restore it.`,
  ),
  lakeCacheTooSmall: say(
    422,
    (needed: number, most: number) =>
      `This reads files of ${needed} MiB, and this machine keeps copies of ${most} MiB at most. Ask for less, or let whoever runs the service raise LAKE_CACHE_MB.`,
  ),
  mailUnavailable: say(503, 'The mail server cannot be reached right now; try again shortly.'),
  mailRefused: say(503, 'The mail server refuses this letter; see whether its address is right.'),
  warehouseUnavailable: say(503, 'The warehouse cannot be reached right now; try again shortly.'),
  warehouseStarting: say(503, 'The warehouse is starting; try again in a minute or two.'),
  warehouseRefused: say(500, 'The warehouse does not accept our credentials or configuration; whoever runs the service has to mend them.'),
  lakeNotPublished: say(503, 'The newest version of this table is not published to the warehouse yet; try again in a few seconds.'),
  warehouseTableMissing: say(
    500,
    'The warehouse does not find the table that this reads; whoever runs the service has to see that it reaches the lake.',
  ),
  warehouseBusy: say(503, 'The warehouse is busy; try again shortly.'),
  callerBusy: say(429, 'You have as many requests in work as one caller may; wait for one to be answered.'),
  macroQueueFull: say(429, (bound: number) => `You have ${bound} macro runs waiting already; wait for one to finish.`),
  macroRuntimeUnavailable: say(
    503,
    (language: string) => `Macros in ${language} cannot run on this server; /health/ready on its admin port says why.`,
  ),
  warehouseTimeout: say(504, 'The query took too long; narrow it with filters, fewer columns or a limit.'),
  placesUnavailable: say(503, 'The place server cannot be reached right now; places can still be typed in.'),
  databaseUnavailable: say(503, 'The database cannot be reached right now; try again shortly.'),
  databaseTimeout: say(504, 'The database took too long to answer; try again shortly.'),
  objectsUnavailable: say(503, 'The object store cannot be used right now; try again shortly.'),
  overloaded: say(503, 'The service has more requests than it can answer; try again shortly.'),
  tooManyListeners: say(429, 'You listen to changes as often as one caller may; end one of your streams.'),
  shuttingDown: say(503, 'The service is stopping; try again in a moment.'),
  notReady: say(503, 'The service is starting or stopping, or recovers from a fault; ask again in a second.'),
  internal: say(500, 'Something went wrong on our side. Whoever runs the service finds it in the log by the request id.'),
};

type Catalogue = typeof catalogue;
export type ErrorKey = keyof Catalogue;

/** The code of an entry: `invalidId` is `INVALID_ID`. */
export const printCode = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

export const errors = Object.fromEntries(
  Object.entries(catalogue).map(([key, { status, sentence }]) => [
    key,
    (...args: unknown[]) => new ApiError(status, printCode(key), (sentence as (...given: unknown[]) => string)(...args)),
  ]),
) as unknown as { [K in ErrorKey]: (...args: Parameters<Catalogue[K]['sentence']>) => ApiError };

/** Whether an error is the one of this entry. */
export const isRefusal = (error: unknown, key: ErrorKey): boolean => error instanceof ApiError && error.code === printCode(key);

/** Throws where a value is missing: `(await findTeam(tx, id)) ?? refuse(errors.teamNotFound())`. */
export function refuse(error: Error): never {
  throw error;
}

/** The published list, in catalogue order. */
export const errorList = (Object.keys(catalogue) as ErrorKey[]).map((key) => ({
  code: printCode(key),
  ...(catalogue[key] as Entry<string[]>),
}));
