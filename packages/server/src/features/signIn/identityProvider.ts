import type { SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { type IdentityProvider, RefusedSignIn } from "@tocsin/core/features/signIn/IdentityProvider"
import { Effect, Option, Result, Semaphore } from "effect"
import * as oidc from "openid-client"
import type { Secrets } from "../../Secrets.ts"
import type { Settings } from "../../settings/Settings.ts"
import { authenticationsOf, clientOf, recentMetadata } from "./issuer.ts"
import { isSecureAddress } from "../../settings/settingTypes.ts"
import { refusedBy } from "./refusalOf.ts"

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
export const identityProvider = Effect.fnUntraced(function* (
  settings: Settings,
  secrets: Secrets,
): Effect.fn.Return<IdentityProvider | undefined> {
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
