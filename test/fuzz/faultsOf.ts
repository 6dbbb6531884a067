import type { Answer } from "../http/client/Answer.ts"
import { failure, problemsOf } from "../http/contract/shapes.ts"
import { type Judge, messageOf } from "../openapi/Judge.ts"
import { answersIn } from "./answersIn.ts"
import type { Exchanged } from "./exchange.ts"
import { type Input, SECRETS } from "./Input.ts"

/** The id of the request that follows each input on its connection. */
const PROBE_ID = "the-probe"

/** A good request, which ends the connection. */
export const PROBE = `GET /api/v1/health HTTP/1.1\r\nHost: fuzz\r\nX-Request-Id: ${PROBE_ID}\r\nConnection: close\r\n\r\n`

/** Refusals of push, icinga, nrdp, pagerduty, opsgenie and sentry. */
const OF_SENDERS =
  /^\{"(?:ok":false,"msg":|results":\[|error":404,|detail":|result":\{"status":-1,|status":"(?:invalid event|throttle exceeded)",|message":.*,"took":0\}$)/

/** Senders are answered in their own language, and so are readers and hearers: by a page, or what a voice says. */
const isToSender = ({ writes }: Input, { headers, text }: Answer): boolean => {
  const [request, type = ""] = [writes.join(""), headers["content-type"]]
  return (
    (request.includes("/in/") && (/^text\/(?:plain|xml)/.test(type) || OF_SENDERS.test(text))) ||
    (request.includes("/a/") && /^text\/(?:html|xml)/.test(type))
  )
}

const ofAnswer = (answer: Answer, input: Input, secrets: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { status, rawHeaders, body, text } = answer
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const ids = names.filter((name) => name === "x-request-id")
  // Bytes that are no request are refused without a body.
  const isBare = text === ""
  return [
    ...(status >= 500 ? [`status ${status}: ${text}`] : []),
    ...(ids.length === 1 ? [] : [`${ids.length} header fields X-Request-Id`]),
    ...(new Set(names).size === names.length ? [] : [`repeated header fields: ${names.join(", ")}`]),
    ...(status >= 400 && !isBare && !isToSender(input, answer) ? problemsOf(failure, body) : []),
    ...secrets.filter((secret) => `${rawHeaders.join("\n")}\n${text}`.includes(secret)),
  ]
}

const closes = ({ headers }: Answer): boolean => headers["connection"]?.toLowerCase() === "close"

/** The faults of what came back for one whole request: by the documents, and of the next answer. */
const ofRequest = (
  { request }: Input,
  [first, ...rest]: ReadonlyArray<Answer>,
  judges: ReadonlyArray<Judge>,
): ReadonlyArray<string> => {
  if (request === undefined) return []
  if (first === undefined) return ["there is no answer"]
  const judge = judges.find(({ document }) => document.paths[request.placed.path] !== undefined)
  const told = judge?.problemsOf(request, first) ?? []
  const isLast = closes(first) || first.headers["content-type"]?.startsWith("text/event-stream") === true
  const [probe] = rest
  const isSane =
    rest.length === 1 && probe?.status === 200 && probe.headers["x-request-id"] === PROBE_ID && closes(probe)
  return isLast || isSane ? told : [...told, "the next request on the connection is not answered as usual"]
}

/** A server, as far as its answers follow from it. */
interface Served {
  readonly judges: ReadonlyArray<Judge>
  readonly keys: ReadonlyMap<string, string>
}

/** The faults of a server in what came back; empty where there is none. */
export const faultsOf = (
  input: Input,
  { text, hangs, isRefused }: Exchanged,
  { judges, keys }: Served,
): ReadonlyArray<string> => {
  if (isRefused) return ["nothing listens any more"]
  if (hangs) return ["the connection stays open"]
  const answers = answersIn(text)
  if (answers === undefined) return ["the answers are no HTTP"]
  const secrets = [...SECRETS, ...keys.values()]
  return [
    ...answers.flatMap((answer) => ofAnswer(answer, input, secrets)),
    ...ofRequest(input, answers, judges),
  ]
}

/** The new feature of an answer, if any: its status and the shape of its message. */
export const featuresOf = ({ text }: Exchanged): ReadonlyArray<string> =>
  (answersIn(text) ?? []).map(({ status, headers, body }) => {
    const message = messageOf(body)?.replaceAll(/"[^"]*"|\d+/g, "#") ?? headers["content-type"] ?? "bare"
    return `${status} ${message}`
  })

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g

/** The answers of a connection, but for ids, and for bodies that show the moment or a new token. */
const comparable = ({ text }: Exchanged): string =>
  JSON.stringify(
    (answersIn(text) ?? []).map(({ status, headers, text: body }) => {
      const { date: _, "content-length": length, ...fields } = headers
      return status === 200 || status === 201 ? { status, fields } : { status, fields, length, body }
    }),
  ).replaceAll(UUID, "an-id")

/** A refusal by a limit, or one of a key after which a limit closes the connection. */
const LIMITED = /HTTP\/1\.1 (?:429 |40[14] (?:(?!\r\n\r\n)[^])*?\r\nconnection: close\r\n)/i

/**
 * Whether two servers of the same state answered differently. Limits depend on when a request comes,
 * and what a client that has gone still gets depends on how fast it went.
 */
export const differ = (one: Exchanged, other: Exchanged): boolean =>
  [one, other].every(({ isEndedByServer, wasReset }) => isEndedByServer && !wasReset) &&
  !LIMITED.test(one.text + other.text) &&
  comparable(one) !== comparable(other)
