const SEPARATORS = /[._:-]/gu

const SECRET_WORD = new RegExp(
  [
    "password|passwd|passphrase|secret|token",
    "apikey|accesskey|privatekey|signingkey|encryptionkey",
    "credential|authorization|bearer|cookie|sessionid|connectionstring",
  ].join("|"),
  "iu",
)

// Segments end at a separator or a camelCase hump ("dbPass"; in "HTTPAuth" before the last
// capital).
const SEGMENT_BOUNDARY = /[._:-]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/u
const SECRET_SEGMENT = /^(?:pass|pwd|auth|jwt|session)$/iu
// Splitting is slow, and only keys that contain such a segment need it.
const MAY_HOLD_SECRET_SEGMENT = /pass|pwd|auth|jwt|session/iu

/**
 * Whether a label's key names a secret, so that its value must not be stored
 * (docs/rules.md#secret-like-labels): "db.password", "apiKey" and "X-Auth" do, "compass" and
 * "author" do not.
 */
export const isSecretLikeLabelKey = (key: string): boolean =>
  SECRET_WORD.test(key.replace(SEPARATORS, "")) ||
  (MAY_HOLD_SECRET_SEGMENT.test(key) &&
    key.split(SEGMENT_BOUNDARY).some((segment) => SECRET_SEGMENT.test(segment)))
