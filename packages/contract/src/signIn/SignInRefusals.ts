/**
 * How a sign-in ends without a session, with the status of the answer and its message (docs/rules.md#sign-in).
 * Metrics, documents and tests read the same table.
 */
export const SignInRefusals = {
  origin: [403, "sign in on the page at the public address of the server, SERVICE_PUBLIC_URL"],
  invitation: [401, "this invitation is unknown, over or was deleted: ask an administrator for another one"],
  used_invitation: [401, "this invitation was used, and works once: ask an administrator for another one"],
  code: [
    401,
    "the issuer refuses this code, which was used, is too old or is of another sign-in: sign in again",
  ],
  nonce: [401, "the ID token is of another sign-in, by its nonce: sign in again"],
  issuer: [401, "the ID token is of another issuer: compare SERVICE_OIDC_ISSUER with its claim iss"],
  audience: [401, "the ID token is for another client: compare SERVICE_OIDC_CLIENT_ID with its claim aud"],
  signature: [
    401,
    "no key of the issuer fits the signature of the ID token, which must be RS256, PS256, ES256, EdDSA or Ed25519: choose one of them for this client at the issuer",
  ],
  time: [401, "the ID token is expired or of the future: compare the clocks of this server and the issuer"],
  token: [401, "the issuer's answer has no ID token of OpenID Connect: add openid to SERVICE_OIDC_SCOPES"],
  encrypted: [401, "the issuer encrypts the ID token: turn its encryption off for this client at the issuer"],
  userinfo: [
    401,
    "the issuer's userinfo is of another person, or signed by no key of the issuer: compare its claim sub with the ID token's, and choose no signature or RS256 for it at the issuer",
  ],
  requirement: [403, "your account lacks the claim of SERVICE_OIDC_REQUIRE: ask an administrator"],
  overage: [
    403,
    "you are in too many groups for the ID token: make the issuer send only the groups of this application",
  ],
  role: [403, "your account has no role here: ask an administrator to add you to a group"],
  client: [
    502,
    "the issuer refuses this server: compare SERVICE_OIDC_CLIENT_ID and its secret with the issuer's",
  ],
  unreachable: [502, "the issuer does not answer as OpenID Connect demands: try again, or use a token"],
  busy: [502, "too many sign-ins wait for the issuer: try again in a moment"],
  limited: [429, "too many sign-ins from this address were refused: try again in a moment, or use a token"],
} as const satisfies Readonly<Record<string, readonly [status: 401 | 403 | 429 | 502, message: string]>>

export type SignInRefusal = keyof typeof SignInRefusals

// Object.keys has lost the type of the names.
export const signInRefusals = Object.keys(SignInRefusals) as ReadonlyArray<SignInRefusal>
