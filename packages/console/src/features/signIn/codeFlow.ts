import { attempt } from "../../state/kept.ts"

/** A sign-in that this tab began, which only it can finish. */
export interface Begun {
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  /** The fragment of the console to which it leads back. */
  readonly place: string
}

const encoded = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const drawn = (): string => encoded(crypto.getRandomValues(new Uint8Array(32)))

export const begunAt = (place: string): Begun => ({
  verifier: drawn(),
  state: drawn(),
  nonce: drawn(),
  place,
})

export const isBegun = (value: unknown): value is Begun =>
  typeof value === "object" &&
  value !== null &&
  ["verifier", "state", "nonce", "place"].every((name) => typeof Reflect.get(value, name) === "string")

/** The challenge that only this verifier answers (RFC 7636, S256). */
export const challengeOf = async (verifier: string): Promise<string | undefined> => {
  const hashing = attempt(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)))
  return hashing && encoded(new Uint8Array(await hashing))
}

/** The person's return from the issuer: what to post, or why there is nothing. */
export type Returned =
  | { readonly code: string; readonly verifier: string; readonly nonce: string }
  | { readonly fault: string }

const LONGEST_ERROR = 200

/** Advice about an answer of the authorization endpoint (RFC 6749, 4.1.2.1). */
const adviceOn = (error: string): string =>
  /^(?:access_denied|consent)/.test(error)
    ? "Sign in again and agree."
    : /^(?:invalid|un)/.test(error)
      ? "Ask an administrator to compare this client's settings at the issuer."
      : "Try again."

/** The issuer's words, which anyone can have written into the address. */
const saidIn = (error: string, description: string | null): string =>
  `${error}${description === null ? "" : `: ${description}`}`
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .slice(0, LONGEST_ERROR)

/** Reads the query with which the issuer returned, and the place to show; `undefined` if no sign-in did. */
export const readReturn = (
  query: string,
  begun: unknown,
): { readonly returned: Returned; readonly place: string } | undefined => {
  const given = new URLSearchParams(query)
  const [code, state, error] = [given.get("code"), given.get("state"), given.get("error")]
  if (state === null || (code === null && error === null)) return undefined
  if (!isBegun(begun) || begun.state !== state) {
    const fault = "This sign-in began in another tab, or before another one. Sign in again."
    return { returned: { fault }, place: "" }
  }
  const { nonce, place, verifier } = begun
  if (code !== null) return { returned: { code, verifier, nonce }, place }
  const said = saidIn(error ?? "", given.get("error_description"))
  const fault = `The issuer did not sign you in (${said}). ${adviceOn(error ?? "")}`
  return { returned: { fault }, place }
}
