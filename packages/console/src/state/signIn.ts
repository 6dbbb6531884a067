import type { SignedIn, SignInOptions } from "@tocsin/contract/Sessions"
import { ApiFailure } from "../api/ApiFailure.ts"
import { request } from "../api/request.ts"
import { keep, kept, attempt } from "./kept.ts"
import { base } from "./base.ts"

const KEY = "tocsin.sign-in"

export type Offer = NonNullable<(typeof SignInOptions)["Encoded"]["oidc"]>

/** A sign-in that this tab began, which only it can finish. */
interface Begun {
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

const isBegun = (value: unknown): value is Begun =>
  typeof value === "object" &&
  value !== null &&
  ["verifier", "state", "nonce", "place"].every((name) => typeof Reflect.get(value, name) === "string")

/** The person's return from the issuer: what to post, or why there is nothing. */
export type Returned =
  | { readonly code: string; readonly verifier: string; readonly nonce: string }
  | { readonly fault: string }

const LONGEST_ERROR = 64

/** Reads the address to which the issuer returned, and clears it, so that nothing keeps the code. */
const takeReturn = (): Returned | undefined => {
  if (typeof location === "undefined") return undefined
  const given = new URLSearchParams(location.search)
  const [code, state, error] = [given.get("code"), given.get("state"), given.get("error")]
  if (state === null || (code === null && error === null)) return undefined
  const begun = kept("sessionStorage", KEY)
  attempt(() => sessionStorage.removeItem(KEY))
  const isOurs = isBegun(begun) && begun.state === state
  history.replaceState(null, "", location.pathname + (isOurs ? begun.place : ""))
  if (!isOurs) return { fault: "This sign-in began in another tab, or before another one. Sign in again." }
  if (code === null)
    return { fault: `The issuer did not sign you in (${error?.slice(0, LONGEST_ERROR) ?? ""}). Try again.` }
  return { code, verifier: begun.verifier, nonce: begun.nonce }
}

/** Taken once, before any other part of the page reads its address. */
let returned = takeReturn()

export const takeReturned = (): Returned | undefined => {
  const taken = returned
  returned = undefined
  return taken
}

/** Whether the issuer returns to this page: its storage is that of the address. */
export const isHere = ({ redirect_uri }: Offer): boolean => redirect_uri === base

export const readOffer = async (): Promise<Offer | undefined> => {
  const options = await request<(typeof SignInOptions)["Encoded"]>(
    { base, token: "" },
    "GET",
    "ops/v1/session",
  )
  return options.oidc
}

/** Leaves for the issuer, with a challenge that only this tab can answer (S256). */
export const begin = async ({
  authorization_endpoint,
  client_id,
  redirect_uri,
  scopes,
}: Offer): Promise<void> => {
  if (authorization_endpoint === undefined) return
  const begun: Begun = { verifier: drawn(), state: drawn(), nonce: drawn(), place: location.hash }
  keep("sessionStorage", KEY, begun)
  if (!isBegun(kept("sessionStorage", KEY)))
    throw new ApiFailure(
      "storage",
      "your browser keeps nothing for this page: allow its storage, or use a token",
    )
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(begun.verifier))
  const address = new URL(authorization_endpoint)
  const asked = {
    response_type: "code",
    client_id,
    redirect_uri,
    scope: scopes,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: encoded(new Uint8Array(digest)),
    code_challenge_method: "S256",
  }
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value)
  location.assign(address)
}

/** The server asks the issuer up to four times, five seconds each. */
const EXCHANGE_MILLIS = 25_000

/** Exchanges the code for the token of a session. */
export const exchange = async (body: Extract<Returned, { readonly code: string }>): Promise<string> => {
  const { token } = await request<(typeof SignedIn)["Encoded"]>(
    { base, token: "" },
    "POST",
    "ops/v1/session",
    {
      body,
      timeoutMillis: EXCHANGE_MILLIS,
    },
  )
  return token
}
