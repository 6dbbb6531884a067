import type { SignInRefusal } from "@tocsin/contract/signIn/SignInRefusals"
import { RefusedSignIn } from "@tocsin/core/features/signIn/IdentityProvider"
import { Predicate } from "effect"
import * as oidc from "openid-client"

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
export const refusedBy = (error: unknown, isOfUserinfo = false): RefusedSignIn => {
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
