/** Translates the failures of AWS calls into our own errors, by exception name, never by text. */
import { errors, type ApiError } from '../../errors.ts';

/** Seconds. */
const RETRY_AFTER = 5;

const unavailable = (cause: unknown) => errors.registryUnavailable().with({ cause, retryAfter: RETRY_AFTER });
const conflict = (cause: unknown) => errors.registryConflict().with({ cause });
const refused = (cause: unknown) => errors.registryRefused().with({ cause });
const misconfigured = (cause: unknown) => errors.registryMisconfigured().with({ cause });

const byName: Readonly<Record<string, (cause: unknown) => ApiError>> = {
  ThrottlingException: unavailable,
  TooManyRequestsException: unavailable,
  ServiceUnavailableException: unavailable,
  InternalFailureException: unavailable,
  InternalException: unavailable,
  ResourceAlreadyExistsException: conflict,
  ConflictingResourceUpdateException: conflict,
  ConflictException: conflict,
  VersionConflictException: conflict,
  DeleteConflictException: conflict,
  CertificateStateException: conflict,
  LimitExceededException: conflict,
  VersionsLimitExceededException: conflict,
  InvalidRequestException: refused,
  ValidationException: refused,
  MalformedPolicyException: refused,
  MalformedPolicyDocumentException: refused,
  PackedPolicyTooLargeException: refused,
  CertificateValidationException: refused,
  UnauthorizedException: misconfigured,
  AccessDenied: misconfigured,
  AccessDeniedException: misconfigured,
  UnrecognizedClientException: misconfigured,
  InvalidClientTokenId: misconfigured,
  InvalidSignatureException: misconfigured,
  SignatureDoesNotMatch: misconfigured,
  ExpiredTokenException: misconfigured,
  ExpiredToken: misconfigured,
  CredentialsProviderError: misconfigured,
};

export const findAwsErrorName = (cause: unknown): string => (cause instanceof Error ? cause.name : '');

/**
 * Translates a failure of AWS. An unknown one with an HTTP status below 500, other than 429, is a refusal. Without an answer, at 429, or from 500 up, the
 * service cannot be reached.
 */
export function translateAwsError(cause: unknown): ApiError {
  const name = findAwsErrorName(cause);
  const known = Object.hasOwn(byName, name) ? byName[name] : undefined;
  if (known) return known(cause);
  const status = (cause as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode ?? 503;
  return status === 429 || status >= 500 ? unavailable(cause) : refused(cause);
}

/** Answers what one AWS call answers, and throws its failure as an error of ours. `missing` says what a ResourceNotFoundException means here. */
export async function askAws<T>(call: Promise<T>, missing: () => ApiError = () => errors.thingNotFound()): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (findAwsErrorName(cause) === 'ResourceNotFoundException') throw missing().with({ cause });
    throw translateAwsError(cause);
  }
}

/** The answer, or null when AWS has no such thing. */
export async function findInAws<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (cause) {
    if (findAwsErrorName(cause) === 'ResourceNotFoundException') return null;
    throw translateAwsError(cause);
  }
}

/** All pages of a list; none when what is listed does not exist. */
export async function readAllPages<Page, Item>(
  pages: AsyncIterable<Page>,
  items: (page: Page) => readonly Item[] | undefined,
): Promise<Item[]> {
  const found: Item[] = [];
  try {
    for await (const page of pages) found.push(...(items(page) ?? []));
  } catch (cause) {
    if (findAwsErrorName(cause) !== 'ResourceNotFoundException') throw translateAwsError(cause);
  }
  return found;
}
