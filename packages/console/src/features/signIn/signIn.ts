import type { SignedIn, SignInOptions } from "@tocsin/contract/signIn/Sessions"
import { ApiFailure } from "../../api/ApiFailure.ts"
import { request, type RequestOptions } from "../../api/request.ts"
import { replaceStep } from "../../state/browser.ts"
import { forget, keep, kept } from "../../state/kept.ts"
import { base } from "../../state/base.ts"
import { begunAt, challengeOf, isBegun, readReturn, type Returned } from "./codeFlow.ts"

const KEY = "tocsin.sign-in"

export type Offer = NonNullable<(typeof SignInOptions)["Encoded"]["oidc"]>

/** Reads the address to which the issuer returned, and clears it, so that nothing keeps the code. */
const takeReturn = (): Returned | undefined => {
  if (typeof location === "undefined") return undefined
  const read = readReturn(location.search, kept("sessionStorage", KEY))
  if (read === undefined) return undefined
  forget("sessionStorage", KEY)
  replaceStep(null, location.pathname + read.place)
  return read.returned
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

/** Asks as a person who has no token yet. */
const ask = <Answer>(method: string, options?: RequestOptions): Promise<Answer> =>
  request({ base, token: "" }, method, "ops/v1/session", options)

export const readOffer = async (): Promise<Offer | undefined> => {
  const { oidc } = await ask<(typeof SignInOptions)["Encoded"]>("GET")
  return oidc
}

/** Leaves for the issuer, with a challenge that only this tab can answer (S256). */
export const begin = async ({
  authorization_endpoint,
  client_id,
  redirect_uri,
  scopes,
}: Offer): Promise<void> => {
  if (authorization_endpoint === undefined) return
  const begun = begunAt(location.hash)
  const code_challenge = await challengeOf(begun.verifier)
  if (code_challenge === undefined)
    throw new ApiFailure(
      "insecure",
      "browsers sign in only by an address with https: open that one, or use a token",
    )
  keep("sessionStorage", KEY, begun)
  if (!isBegun(kept("sessionStorage", KEY)))
    throw new ApiFailure(
      "storage",
      "your browser keeps nothing for this page: allow its storage, or use a token",
    )
  const address = new URL(authorization_endpoint)
  const asked = {
    response_type: "code",
    client_id,
    redirect_uri,
    scope: scopes,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge,
    code_challenge_method: "S256",
  }
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value)
  location.assign(address)
}

/** The server asks the issuer up to four times, five seconds each. */
const EXCHANGE_MILLIS = 25_000

/** Exchanges the code for the token of a session. */
export const exchange = async (body: Extract<Returned, { readonly code: string }>): Promise<string> => {
  const options = { body, timeoutMillis: EXCHANGE_MILLIS }
  const { token } = await ask<(typeof SignedIn)["Encoded"]>("POST", options)
  return token
}
