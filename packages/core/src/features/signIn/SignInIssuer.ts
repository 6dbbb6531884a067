import type { SignInOffer, SignInRequest } from "@tocsin/contract/signIn/Sessions"
import type { Role } from "@tocsin/contract/operators/Operators"
import { type SignInRefusal, SignInRefusals, signInRefusals } from "@tocsin/contract/signIn/SignInRefusals"
import { Context, type Duration, type Effect, Schema } from "effect"

/** The claims of an ID token, or of a userinfo answer. */
export type Claims = Readonly<Record<string, unknown>>

/** Which claim gives people their role, and how (docs/rules.md#sign-in). */
export interface SignInRules {
  /** A name, or a JSON Pointer (RFC 6901). */
  readonly claim: string
  /** The values that give each role; `*` gives it to everyone. */
  readonly values: Readonly<Record<Role, ReadonlyArray<string>>>
  /** A claim that everyone must have, with this value. */
  readonly required?: { readonly claim: string; readonly value: string } | undefined
}

export class RefusedSignIn extends Schema.TaggedError<RefusedSignIn>()("RefusedSignIn", {
  refusal: Schema.Literals(signInRefusals),
  message: Schema.String,
}) {
  static because(refusal: SignInRefusal, detail?: string): RefusedSignIn {
    const [, usual] = SignInRefusals[refusal]
    const message = detail === undefined ? usual : `${usual} (${detail})`
    return new RefusedSignIn({ refusal, message })
  }
}

/** A person, as the issuer's signed ID token names them. */
export interface SignedInPerson {
  /** The issuer's name for the person, which never changes. */
  readonly subject: string
  readonly claims: Claims
  /** The claims of the userinfo endpoint; none without one. */
  readonly userinfo: Effect.Effect<Claims | undefined, RefusedSignIn>
}

/** The issuer by which people sign in (docs/rules.md#sign-in). Each call is bounded in time, bytes and number. */
export interface SignInIssuer {
  readonly issuer: string
  readonly rules: SignInRules
  readonly lasts: Duration.Duration
  /** Never fails: it states the problem of an issuer that does. */
  readonly offer: Effect.Effect<SignInOffer>
  /** Exchanges a code, and verifies the ID token with its signature. */
  readonly exchange: (request: SignInRequest) => Effect.Effect<SignedInPerson, RefusedSignIn>
}

/** {@link SignInIssuer}; absent where operators have tokens alone. */
export const SignInIssuer = Context.Reference<SignInIssuer | undefined>(
  "@tocsin/core/features/signIn/SignInIssuer",
  { defaultValue: () => undefined },
)
