import { Schema } from "effect"
import { boundedText, closedStruct, named, optional, timestamp } from "../formats/Fields.ts"
import { tokenIdOf } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { Role } from "../operators/Operators.ts"

export const SessionId = tokenIdOf("SessionId", "a session").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

const text = (description: string, max: number) => boundedText(max).annotate({ description })

/** The facts that a page needs to begin a sign-in by OpenID Connect (docs/rules.md#sign-in). */
const SignInOffer = Schema.Struct({
  name: Schema.String.annotateKey({ description: "The name of the issuer, for people." }),
  client_id: Schema.String,
  scopes: Schema.String,
  redirect_uri: Schema.String.annotateKey({
    description: "The public address, to which the issuer returns. The page that begins must be below it.",
  }),
  end_session_url: optional(
    Schema.String,
    "Where a browser goes after a sign-out, so that the issuer may end its own session; absent if it names no such place.",
  ),
  authorization_endpoint: optional(Schema.String, "Where a sign-in begins; absent while the issuer fails."),
  problem: optional(Schema.String, "Why no sign-in can begin now; absent if one can."),
}).annotate(named("SignInOffer", "How to begin a sign-in by OpenID Connect."))
export type SignInOffer = typeof SignInOffer.Type

export const SignInOptions = Schema.Struct({
  oidc: optional(SignInOffer, "Absent where operators have tokens alone."),
}).annotate(named("SignInOptions", "The ways to sign in besides a token."))
export type SignInOptions = typeof SignInOptions.Type

export const SignInRequest = closedStruct({
  code: text("The authorization code that the issuer returned.", 4_096),
  verifier: text("The verifier of its code challenge (PKCE).", 128),
  nonce: text("The nonce that the ID token must have.", 128),
}).annotate(named("SignInRequest", "A code to exchange for a session."))
export type SignInRequest = typeof SignInRequest.Type

const described = {
  name: Schema.String.annotateKey({ description: "The name of the person in the audit: oidc: and a name." }),
  role: Role,
  expires_at: timestamp("When the session ends."),
}

export const SignedIn = Schema.Struct({
  token: Schema.String.annotateKey({ description: "The token of the session. It is not shown again." }),
  ...described,
}).annotate(named("SignedIn", "A new session with its token."))

export const Session = Schema.Struct({
  id: SessionId,
  ...described,
  created_at: InstantFromString,
}).annotate(named("Session", "A person who is signed in by OpenID Connect."))
export type Session = typeof Session.Type

const NAMED_RULE = {
  expected: "the ID of a session, 32 hexadecimal digits, or the name of a person, such as oidc:ann",
}

export const SessionPath = Schema.Struct({
  id: Schema.String.check(
    Schema.isPattern(/^(?:[0-9a-f]{32}|oidc:[a-z0-9._-]{1,128})$/u, NAMED_RULE),
  ).annotateKey({
    description: "The ID of a session, or the name of a person, all of whose sessions end: oidc:ann.",
  }),
})

/** Its columns as CSV: see `csvText`. */
export const sessionColumns = "id name role created_at expires_at"
