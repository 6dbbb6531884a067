import { Duration, Effect, Redacted, Result } from "effect"
import * as oidc from "openid-client"
import { errorCode } from "../../errorCode.ts"
import { isSecureAddress } from "../../settings/settingTypes.ts"

/** Algorithms whose keys the issuer publishes, so that anyone can verify an ID token. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
const REQUEST_SECONDS = 5
/** Metadata and keys take a few kilobytes; the claims of a person in many groups some more. */
const MOST_BYTES = 1_048_576
/** Clocks may differ by this much. */
const SKEW_SECONDS = 60
/** Metadata are good for this long, so that a crowd of browsers asks once. */
const FOUND_FOR = Duration.seconds(10)

class TooLarge extends Error {}

/** The bytes of an answer, up to a bound. */
const boundedBytes = async (body: ReadableStream<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    // Leaving the loop closes the connection.
    if (size > MOST_BYTES) throw new TooLarge()
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces))
}

/** Requests whose answers are small. The library follows no redirect, and gives each request its time. */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  // The types of the two differ in a body that is undefined.
  const answer = await fetch(url, options as RequestInit)
  const body = await boundedBytes(answer.body)
  const { headers, status } = answer
  return new Response(status === 204 || status === 304 ? null : body, { status, headers })
}

/** The code of an error, or of the first of its causes that has one. */
const firstCode = (error: unknown): string =>
  error instanceof Error ? errorCode(error) || firstCode(error.cause) : ""

/** The reason why an issuer has no metadata for us. */
const problemOf = (error: unknown, issuer: string): string => {
  const code = firstCode(error)
  if (code === "OAUTH_TIMEOUT") return `the issuer ${issuer} does not answer within ${REQUEST_SECONDS} s`
  if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED")
    return `the issuer at ${issuer} has another name: set SERVICE_OIDC_ISSUER exactly to the issuer of its metadata`
  if (code.startsWith("OAUTH_") || (error instanceof Error && error.cause instanceof TooLarge))
    return `${issuer} does not answer with the metadata of OpenID Connect: compare SERVICE_OIDC_ISSUER with the issuer's`
  return `the issuer ${issuer} is unreachable${code === "" ? "" : ` (${code})`}: check its address and this server's network`
}

/** How a client may prove its secret here; `none` is for clients without one. */
const METHODS = ["client_secret_basic", "client_secret_post", "none"]

/** The endpoints to which people and secrets go. */
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"] as const

/** Metadata with which the library does no more than it should. */
const restricted = (
  metadata: oidc.ServerMetadata,
  issuer: string,
): Result.Result<oidc.ServerMetadata, string> => {
  for (const name of ENDPOINTS) {
    const address = metadata[name]
    if (address === undefined ? name !== "userinfo_endpoint" : !isSecureAddress(address))
      return Result.fail(
        `the metadata of ${issuer} lack a ${name} that begins with https://: set the address of the issuer there`,
      )
  }
  const { require_pushed_authorization_requests, token_endpoint_auth_methods_supported: methods } = metadata
  if (require_pushed_authorization_requests === true)
    return Result.fail(
      `${issuer} wants pushed authorization requests (PAR), which browsers do not send here: set the client to use none there`,
    )
  if (methods !== undefined && !methods.some((method) => METHODS.includes(method)))
    return Result.fail(
      `${issuer} takes clients by ${methods.join(", ")} alone: choose client_secret_basic or client_secret_post for this client there`,
    )
  const among = (algorithms: ReadonlyArray<string> = ["RS256"]) =>
    algorithms.filter((one) => ALGORITHMS.includes(one))
  const ofTokens = among(metadata.id_token_signing_alg_values_supported)
  return ofTokens.length === 0
    ? Result.fail(
        `${issuer} signs ID tokens with none of ${ALGORITHMS.join(", ")}: choose one of them for this client there`,
      )
    : Result.succeed({
        ...metadata,
        id_token_signing_alg_values_supported: ofTokens,
        userinfo_signing_alg_values_supported: among(metadata.userinfo_signing_alg_values_supported),
        // It distinguishes issuers of one client, and there is one. The page posts the code alone.
        authorization_response_iss_parameter_supported: false,
      })
}

/** Lets the library use an issuer on this machine without TLS. Every other one has it. */
const insecure = (issuer: string) => (issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [])

/** Texts that stand in `Authorization: Basic` as they are, whether an issuer decodes them (RFC 6749, 2.3.1) or not. */
const PLAIN = /^[A-Za-z0-9]*$/

/**
 * The ways in which this server may authenticate itself, to be tried in this order with one code: an issuer that does
 * not decode `Basic` refuses a name with a hyphen, and its code stays good. LemonLDAP::NG 2.16 and Glewlwyd 2.7 are
 * such issuers, as of November 2026.
 */
export const authenticationsOf = (
  { token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata,
  id: string,
  secret: Redacted.Redacted | undefined,
): readonly [oidc.ClientAuth, ...ReadonlyArray<oidc.ClientAuth>] => {
  const text = secret === undefined ? "" : Redacted.value(secret)
  const post = oidc.ClientSecretPost(text)
  // The default of OpenID Connect Discovery.
  if (methods !== undefined && !methods.includes("client_secret_basic")) return [post]
  const isAmbiguous = !PLAIN.test(id) || !PLAIN.test(text)
  const other = isAmbiguous && methods?.includes("client_secret_post") === true ? [post] : []
  return [oidc.ClientSecretBasic(text), ...other]
}

/** A client that has read no keys yet, so that changed ones count at once. */
export const clientOf = (
  metadata: oidc.ServerMetadata,
  id: string,
  authentication: oidc.ClientAuth,
): oidc.Configuration => {
  const client = new oidc.Configuration(metadata, id, { [oidc.clockTolerance]: SKEW_SECONDS }, authentication)
  client[oidc.customFetch] = boundedFetch
  client.timeout = REQUEST_SECONDS
  // In this flow, the library would trust the connection instead.
  oidc.enableNonRepudiationChecks(client)
  for (const allow of insecure(metadata.issuer)) allow(client)
  return client
}

/** The metadata of an issuer, or why there are none. Never fails. */
export const discover = (issuer: string): Effect.Effect<Result.Result<oidc.ServerMetadata, string>> =>
  Effect.tryPromise({
    try: () =>
      oidc.discovery(new URL(issuer), "discovery", undefined, oidc.None(), {
        [oidc.customFetch]: boundedFetch,
        timeout: REQUEST_SECONDS,
        execute: insecure(issuer),
      }),
    catch: (error) => problemOf(error, issuer),
  }).pipe(Effect.result, Effect.map(Result.flatMap((found) => restricted(found.serverMetadata(), issuer))))

/** The metadata of an issuer, read when they are needed, and again soon after. A new problem is logged. */
export const recentMetadata = (issuer: string) => {
  let logged: string | undefined
  return Effect.cachedWithTTL(
    Effect.tap(discover(issuer), (found) => {
      const problem = Result.isFailure(found) ? found.failure : undefined
      const isNew = problem !== logged
      logged = problem
      return isNew && problem !== undefined
        ? Effect.logWarning(`people cannot sign in: ${problem}`)
        : Effect.void
    }),
    FOUND_FOR,
  )
}
