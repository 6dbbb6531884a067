import { takesKey } from "@tocsin/contract/v1/takesKey"
import { attempt } from "../state/kept.ts"
import { keepLatest } from "../state/keepLatest.ts"
import { ApiFailure, failureOf, isUnreached } from "./ApiFailure.ts"

/** A value of a query; an undefined one is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface RequestOptions {
  readonly query?: Query | undefined
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown
  /** Of a body that is no text; JSON without. */
  readonly contentType?: string | undefined
  /** The hash of what a change replaces. */
  readonly ifMatch?: string | undefined
  readonly timeoutMillis?: number | undefined
  /** Names an act, which is then carried out once. */
  readonly key?: string | undefined
}

/** The last answers to reads, so that an equal answer is the same object: nothing is drawn again. */
export type KnownAnswers = Map<string, { readonly text: string; readonly value: unknown }>

/** Pages in sight and what is around them. */
const MOST_KNOWN = 64

export interface Connection {
  /** Ends with a slash. */
  readonly base: string
  readonly token: string
  readonly fetch?: typeof fetch
  readonly known?: KnownAnswers
}

/** Below the 10 s after which a lost connection must show. */
const TIMEOUT_MILLIS = 8_000

const queryText = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]): Array<[string, string]> =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

/**
 * Tocsin has no cookies. Those of a proxy before it go along once it has refused a call without them; never to one that
 * asks for a password: browsers would ask the reader for it at each call, and send the token in its place.
 */
let credentials: "omit" | "same-origin" = "omit"

/** The credentials that calls of this page take along. */
export const credentialsNow = () => credentials

/** Ways to ask for a password, for which browsers open a window. */
const PASSWORDS = /\b(?:basic|digest|negotiate|ntlm)\b/i

const DOTS = /^\.{1,2}$/

/** An ID as a segment of a path. Browsers resolve `.` and `..`, so these are encoded twice. */
export const segment = (id: string): string =>
  DOTS.test(id) ? id.replaceAll(".", "%252E") : encodeURIComponent(id)

/** Calls the API with the operator's token; rejects with an {@link ApiFailure}. */
export const request = async <Answer>(
  connection: Connection,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> => {
  const { base, token, fetch: send = fetch, known } = connection
  const { query = {}, body, contentType = "application/json", ifMatch, key } = options
  const { timeoutMillis = TIMEOUT_MILLIS } = options
  const address = `${base}${path}${queryText(query)}`
  const timeout = AbortSignal.timeout(timeoutMillis)
  const isText = typeof body === "string"
  let response: Response
  let text: string
  try {
    response = await send(address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": isText ? "application/yaml" : contentType }),
        ...(ifMatch !== undefined && { "if-match": `"${ifMatch}"` }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      signal: timeout,
      cache: "no-store",
      credentials,
      // The API never redirects.
      redirect: "manual",
    })
    text = await response.text()
  } catch {
    throw timeout.aborted
      ? new ApiFailure("timeout", "the server did not answer in time")
      : new ApiFailure("connection", "the server could not be reached")
  }
  const requestId = response.headers.get("x-request-id") ?? undefined
  const before = known?.get(address)
  // The service's definition states the answer; its own suites hold it to that.
  if (response.ok && method === "GET" && before?.text === text) return before.value as Answer
  const parsed = attempt(() => ({ answer: JSON.parse(text) as unknown }))
  if (parsed === undefined || !response.ok) {
    const failure = failureOf(response.status, parsed?.answer, requestId)
    const asksForPassword = PASSWORDS.test(response.headers.get("www-authenticate") ?? "")
    if (failure.code !== "proxy" || credentials !== "omit" || asksForPassword) throw failure
    credentials = "same-origin"
    return request(connection, method, path, options)
  }
  const { answer } = parsed
  if (known !== undefined && method === "GET") keepLatest(known, MOST_KNOWN, address, { text, value: answer })
  return answer as Answer
}

/** Acts whose answer was lost, by method, path and body, with the key of each. */
export type UnansweredActs = Map<string, string>

// `crypto.randomUUID` is for secure pages only.
/** A name that no other has. */
export const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-")

/**
 * Calls the API. An act whose answer is lost is sent once more with its key, and again with it when
 * the reader repeats it, so that it is carried out once (docs/rules.md#acting-once). An answer to
 * any act ends that: from then on the reader decides by what the page shows.
 */
export const actOnce = async <Answer>(
  connection: Connection,
  unanswered: UnansweredActs,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> => {
  if (!takesKey(method, path)) return request(connection, method, path, options)
  const act = JSON.stringify([method, path, options.query, options.body, options.ifMatch])
  const key = unanswered.get(act) ?? newKey()
  const send = () => request<Answer>(connection, method, path, { ...options, key })
  const isLost = (error: unknown): boolean => error instanceof ApiFailure && isUnreached(error)
  try {
    const answer = await send().catch((error: unknown) => (isLost(error) ? send() : Promise.reject(error)))
    unanswered.clear()
    return answer
  } catch (error) {
    if (isLost(error)) unanswered.set(act, key)
    else unanswered.clear()
    throw error
  }
}
