import type { SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { type SignInIssuer, RefusedSignIn } from "@tocsin/core/features/signIn/SignInIssuer"
import { Effect, Option, Predicate, Result, Semaphore } from "effect"
import * as oidc from "openid-client"
import type { Secrets } from "../../Secrets.ts"
import type { Settings } from "../../settings/Settings.ts"
import { authenticationsOf, clientOf, recentMetadata } from "./issuer.ts"
import { isSecureAddress } from "../../settings/settingTypes.ts"
import type { SignInRefusal } from "@tocsin/contract/signIn/SignInRefusals"

/** The meaning of a claim of another value. */
const OF_CLAIMS: Readonly<Record<string, SignInRefusal>> = {
  iss: "issuer",
  aud: "audience",
  azp: "audience",
  nonce: "nonce",
}

/** Answers of the token endpoint (RFC 6749, 5.2); another one is about what this server asks for. */
const OF_ERRORS: Readonly<Record<string, SignInRefusal>> = {
  invalid_grant: "code",
  server_error: "unreachable",
  temporarily_unavailable: "unreachable",
}

const LONGEST_DETAIL = 200

/** The issuer's own words about a refusal, which are text of a stranger. */
const saidIn = ({ error, error_description: description }: oidc.ResponseBodyError): string =>
  `${error}${description === undefined ? "" : `: ${description}`}`
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .slice(0, LONGEST_DETAIL)

/** A JWT of five parts is encrypted. */
const isEncrypted = (error: Error): boolean =>
  error.cause instanceof Error
    ? isEncrypted(error.cause)
    : typeof error.cause === "string" && error.cause.split(".").length === 5

/** The facts behind an error of the library, which its causes have. */
const factsOf = ({ cause }: Error): Readonly<Record<string, unknown>> => {
  if (cause instanceof Error) return factsOf(cause)
  return Predicate.isObject(cause) ? cause : {}
}

/** The refusal that an error of the library means, of the token endpoint or of userinfo. */
const refusedBy = (error: unknown, isOfUserinfo = false): RefusedSignIn => {
  const refusal = refusalOf(error)
  if (isOfUserinfo && (refusal === "token" || refusal === "signature"))
    return RefusedSignIn.because("userinfo")
  const said = error instanceof oidc.ResponseBodyError && refusal === "client" ? saidIn(error) : undefined
  return RefusedSignIn.because(refusal, said)
}

/** The meaning of an error of the library, by its codes, which are its interface. */
const refusalOf = (error: unknown): SignInRefusal => {
  if (error instanceof oidc.ResponseBodyError) return OF_ERRORS[error.error] ?? "client"
  if (error instanceof oidc.WWWAuthenticateChallengeError) return "client"
  if (!(error instanceof oidc.ClientError)) return "unreachable"
  const { claim, header, signature } = factsOf(error)
  switch (error.code) {
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
      return OF_CLAIMS[String(claim)] ?? "token"
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
      return "time"
    case "OAUTH_KEY_SELECTION_FAILED":
      return "signature"
    case "OAUTH_UNSUPPORTED_OPERATION":
      return isEncrypted(error) ? "encrypted" : "signature"
    case "OAUTH_INVALID_RESPONSE":
      return header !== undefined || signature !== undefined ? "signature" : "token"
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED":
      return "token"
    default:
      return "unreachable"
  }
}

/** Sign-ins that wait for the issuer together: each may be the guess of a stranger. */
const MOST_EXCHANGES = 8

const asking = <A>(ask: () => Promise<A>, isOfUserinfo = false): Effect.Effect<A, RefusedSignIn> =>
  Effect.tryPromise({ try: ask, catch: (error) => refusedBy(error, isOfUserinfo) })

/** Exchanges a code for the claims of an ID token whose signature fits, and reads userinfo when asked. */
const exchangeBy = Effect.fnUntraced(function* (
  client: oidc.Configuration,
  redirectUri: string,
  { code, nonce, verifier }: SignInRequest,
) {
  const returned = new URL(redirectUri)
  returned.searchParams.set("code", code)
  const tokens = yield* asking(() =>
    oidc.authorizationCodeGrant(client, returned, {
      pkceCodeVerifier: verifier,
      expectedNonce: nonce,
      // The page has compared it.
      expectedState: oidc.skipStateCheck,
      idTokenExpected: true,
    }),
  )
  const claims = tokens.claims()
  if (claims === undefined) return yield* RefusedSignIn.because("token")
  return {
    subject: claims.sub,
    claims,
    userinfo:
      client.serverMetadata().userinfo_endpoint === undefined
        ? Effect.succeed(undefined)
        : asking(() => oidc.fetchUserInfo(client, tokens.access_token, claims.sub), true),
  }
})

/**
 * Where the issuer ends its own session (OpenID Connect RP-Initiated Logout 1.0). It is asked to lead nowhere from
 * there: it would refuse an address that the client there does not have.
 */
const endSessionOf = (metadata: oidc.ServerMetadata, client_id: string) =>
  isSecureAddress(metadata.end_session_endpoint ?? "")
    ? { end_session_url: oidc.buildEndSessionUrl(clientOf(metadata, client_id, oidc.None())).href }
    : {}

/** Sign-in by the issuer of the settings, if there is one (docs/rules.md#sign-in). The secret follows its file. */
export const signInIssuer = Effect.fnUntraced(function* (
  settings: Settings,
  secrets: Secrets,
): Effect.fn.Return<SignInIssuer | undefined> {
  const { SERVICE_OIDC_ISSUER: issuer, SERVICE_PUBLIC_URL: publicUrl } = settings
  const { SERVICE_OIDC_CLIENT_ID: client_id } = settings
  if (issuer === undefined || client_id === undefined || publicUrl === undefined) return undefined
  const present = secrets.list(({ SERVICE_OIDC_CLIENT_SECRET: secret }) =>
    secret === undefined ? [] : [secret],
  )
  const metadata = yield* recentMetadata(issuer)
  const redirect_uri = `${publicUrl}/`
  const turns = Semaphore.makeUnsafe(MOST_EXCHANGES)
  return {
    issuer,
    rules: {
      claim: settings.SERVICE_OIDC_CLAIM,
      values: {
        admin: settings.SERVICE_OIDC_ADMIN ?? [],
        respond: settings.SERVICE_OIDC_RESPOND ?? [],
        read: settings.SERVICE_OIDC_READ ?? [],
      },
      required: settings.SERVICE_OIDC_REQUIRE,
    },
    lasts: settings.SERVICE_OIDC_SESSION,
    offer: Effect.map(metadata, (found) => ({
      name: settings.SERVICE_OIDC_NAME ?? new URL(issuer).host,
      client_id,
      scopes: settings.SERVICE_OIDC_SCOPES,
      redirect_uri,
      ...Result.match(found, {
        onFailure: (problem) => ({ problem }),
        onSuccess: (success) => ({
          ...(success.authorization_endpoint !== undefined && {
            authorization_endpoint: success.authorization_endpoint,
          }),
          ...endSessionOf(success, client_id),
        }),
      }),
    })),
    exchange: Effect.fnUntraced(function* (request) {
      const exchanged = Effect.gen(function* () {
        const found = yield* metadata
        if (Result.isFailure(found)) return yield* RefusedSignIn.because("unreachable", found.failure)
        const [first, ...others] = authenticationsOf(found.success, client_id, present[0])
        const by = (one: oidc.ClientAuth) =>
          exchangeBy(clientOf(found.success, client_id, one), redirect_uri, request)
        return yield* others.reduce(
          (tried, other) =>
            Effect.catchIf(
              tried,
              ({ refusal }) => refusal === "client",
              () => by(other),
            ),
          by(first),
        )
      })
      const person = yield* turns.withPermitsIfAvailable(1)(exchanged)
      return Option.isSome(person) ? person.value : yield* RefusedSignIn.because("busy")
    }),
  }
})
