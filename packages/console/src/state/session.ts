import { computed, signal } from "@preact/signals"
import type { Me } from "@tocsin/client"
import type { SignInOptions } from "@tocsin/contract/signIn/Sessions"
import { ApiFailure, isUnreached } from "../api/ApiFailure.ts"
import {
  actOnce,
  type KnownAnswers,
  request,
  type RequestOptions,
  type UnansweredActs,
} from "../api/request.ts"
import { base } from "./base.ts"
import { forget, keepText, keptText } from "./kept.ts"
import { parseRoute } from "./Route.ts"

const KEY = "tocsin.token"
/** The token of the wall, kept apart, so that signing out on another page does not end it. */
const WALL_KEY = "tocsin.wall"
export const WALL = "wall"

/** How long a browser keeps a token: as long as its tab is open, until a sign-out, or for its wall. */
export type Keeping = "tab" | "device" | "wall"

// Outside of a browser, there is no address.
const { location } = globalThis as {
  readonly location?: { readonly hash: string; readonly assign: (address: string) => void }
}

const keptForWall = (): string | null => keptText("localStorage", WALL_KEY)

/** The token that the wall of this browser keeps; undefined on other pages, and without one. */
export const wallToken = (): string | undefined =>
  (parseRoute(location?.hash ?? "").page === WALL ? keptForWall() : null) ?? undefined

// A browser may refuse storage; then the token lives as long as the page.
const stored = (): string =>
  wallToken() ?? keptText("sessionStorage", KEY) ?? keptText("localStorage", KEY) ?? ""

/** The operator's token, empty without one. It goes into no address and no other place. */
export const token = signal(stored())

export const me = signal<Me | undefined>(undefined)

export const notice = signal("")

const ROLES: ReadonlyArray<Me["role"]> = ["read", "respond", "admin"]

const includes = (role: Me["role"]) =>
  computed(() => me.value !== undefined && ROLES.indexOf(me.value.role) >= ROLES.indexOf(role))
export const mayRespond = includes("respond")
export const mayAdminister = includes("admin")

const known: KnownAnswers = new Map()
const unanswered: UnansweredActs = new Map()

/** Ends what the token gave. The address stays, so that the next sign-in leads back. */
const leave = (reason: string): void => {
  known.clear()
  unanswered.clear()
  token.value = ""
  me.value = undefined
  notice.value = reason
}

/** The token of a person who signed in by the issuer. */
const isOfSession = (given: string): boolean => given.startsWith("session_")

/** Ends a session, which the server would keep for hours. A server that is not there does so in time. */
const endSession = async (given: string): Promise<void> => {
  await request({ base, token: given }, "DELETE", "ops/v1/session")
  const { oidc } = await request<(typeof SignInOptions)["Encoded"]>(
    { base, token: "" },
    "GET",
    "ops/v1/session",
  )
  // The issuer's own session would sign in again without a question.
  if (oidc?.end_session_url !== undefined) location?.assign(oidc.end_session_url)
}

type Send = (method: string, path: string) => Promise<unknown>

type Leaves = (send?: Send) => Promise<unknown>

const leaving: Array<Leaves> = []

/** Does something when a reader signs out: in the tab where they do, with the token that they give up. */
export const whenSignedOut = (does: Leaves): void => void leaving.push(does)

/** Forgets a token: of a wall, the one that it keeps, also while the server refuses it. */
export const signOut = (reason = ""): void => {
  const forgotten = token.peek() === "" ? wallToken() : token.peek()
  forget("sessionStorage", KEY)
  // Another tab may have kept another token since.
  for (const key of [KEY, WALL_KEY])
    if (keptText("localStorage", key) === forgotten) forget("localStorage", key)
  if (reason === "") {
    const given = token.peek()
    const send: Send = (method, path) => request({ base, token: given }, method, path)
    const left = Promise.allSettled(leaving.map((does) => does(send)))
    if (isOfSession(given)) void left.then(() => endSession(given)).catch(() => undefined)
  }
  leave(reason)
}

/** Signs out with the tab that removes a kept token, which all tabs share. */
export const followStorage = ({ key }: { readonly key: string | null }): void => {
  if ((key !== KEY && key !== WALL_KEY) || token.value === "" || stored() !== "") return
  for (const does of leaving) void does()
  signOut("You were signed out in another tab.")
}

/** When the last answer of the server arrived, and whether the last request failed to reach it: at a proxy's sign-in? */
export const contact = signal<{
  readonly at: number
  readonly isLost: boolean
  readonly isGated?: boolean
}>({ at: 0, isLost: false })

let isMissed = false

/** Whether a read has not reached the server since the last look: what it reads may be outdated. */
export const takeMissed = (): boolean => {
  const wasMissed = isMissed
  isMissed = false
  return wasMissed
}

/** Calls the API as the operator who is signed in. A 401 leads to the sign-in. */
export const call = async <Answer>(
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Answer> => {
  const used = token.value
  try {
    const answer = await actOnce<Answer>({ base, token: used, known }, unanswered, method, path, options)
    contact.value = { at: performance.now(), isLost: false }
    return answer
  } catch (error) {
    if (error instanceof ApiFailure) {
      if (isUnreached(error)) {
        contact.value = { ...contact.value, isLost: true, isGated: error.code === "proxy" }
        isMissed ||= method === "GET"
      } else contact.value = { at: performance.now(), isLost: false }
      if (error.code === "unauthorized" && used === token.value) {
        // A wall keeps it: the refusal may be that of a server that is being set up again.
        if (used === wallToken()) leave("")
        else
          signOut(
            `Your ${isOfSession(used) ? "session is over" : "token is no longer valid"}. Sign in again.`,
          )
      }
    }
    throw error
  }
}

/** An act of one request, and what it did. */
export const carryOut = async (
  text: string,
  ...made: Parameters<typeof call>
): Promise<{ readonly text: string }> => {
  await call(...made)
  return { text }
}

export const loadMe = async (): Promise<void> => {
  me.value = await call<Me>("GET", "ops/v1/me")
}

/** Signs in with a token, which is kept only once the server has accepted it. A wall takes only one that reads. */
export const signIn = async (given: string, keeping: Keeping): Promise<void> => {
  const found = await request<Me>({ base, token: given }, "GET", "ops/v1/me")
  if (keeping === "wall" && found.role !== "read")
    throw new ApiFailure("forbidden", `its role is ${found.role}, and a wall takes only the role read`)
  keepText(keeping === "tab" ? "sessionStorage" : "localStorage", keeping === "wall" ? WALL_KEY : KEY, given)
  notice.value = ""
  me.value = found
  token.value = given
}
