/** Codes of ours that the common authentication client knows by another name. */
export const CLIENT_CODES: Readonly<Record<string, string>> = {
  INVALID_INPUT: 'VALIDATION_ERROR',
  MALFORMED_JSON: 'BAD_REQUEST',
  ORIGIN_NOT_TRUSTED: 'INVALID_ORIGIN',
  ORIGIN_MISSING: 'MISSING_OR_NULL_ORIGIN',
  PASSKEY_UNKNOWN: 'PASSKEY_NOT_FOUND',
  API_KEY_UNKNOWN: 'INVALID_API_KEY',
  API_KEY_MALFORMED: 'INVALID_API_KEY',
};

/** The code under which the common authentication client knows one of ours. */
export const translateErrorCode = (code: string): string => CLIENT_CODES[code] ?? code;
