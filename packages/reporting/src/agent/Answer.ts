import { plainLine } from "@tocsin/contract/formats/plainLine"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"

/** A request to one server. */
export interface OutgoingRequest {
  readonly kind: RequestKind
  /** The address of the server, as it is configured. */
  readonly server: string
  readonly agentId: string
  readonly key: string
  readonly body: string
  /** The ID of the process that sends a heartbeat, if it has one: transports send it as `PROCESS_FIELD`. */
  readonly process?: string | undefined
}

/** Sends a request and resolves with its answer; rejects where none came in time. */
export interface Transport {
  readonly send: (request: OutgoingRequest) => Promise<HttpAnswer>
}

/** Runtimes and proxies resolve the segments `.` and `..`, so IDs of these names are encoded twice. */
const segment = (agentId: string): string =>
  /^\.{1,2}$/.test(agentId) ? agentId.replaceAll(".", "%252E") : encodeURIComponent(agentId)

/** The resources of an agent that requests replace. */
const RESOURCES: { readonly [Kind in RequestKind]?: string } = {
  declaration: "expectations",
  enrolment: "enrolment",
}

/** The address of an agent on a server. */
export const agentUrl = (server: string, agentId: string): string =>
  `${withoutTrailing(server, "/")}/ops/v1/agents/${segment(agentId)}`

/** Where a request goes over HTTP. */
export const targetOf = ({ kind, server, agentId }: OutgoingRequest) => {
  const resource = RESOURCES[kind]
  return resource === undefined
    ? { method: "POST", url: `${withoutTrailing(server, "/")}/api/v1/${kind}` }
    : { method: "PUT", url: `${agentUrl(server, agentId)}/${resource}` }
}

/** The form in which senders write dates (RFC 9110, 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const MILLIS_PER_SECOND = 1_000

/**
 * An answer's `Retry-After` (RFC 9110, 10.2.3) in milliseconds. A date counts from the answer's own
 * Date, because the two clocks may differ.
 */
export const retryAfterMillis = (
  { retryAfter, date }: Omit<HttpAnswer, "status" | "body">,
  now: number,
): number | undefined => {
  const asked = retryAfter?.trim() ?? ""
  if (/^\d{1,9}(?:\.\d*)?$/.test(asked)) return Math.ceil(Number(asked) * MILLIS_PER_SECOND)
  if (!HTTP_DATE.test(asked)) return undefined
  const theirs = Date.parse(date ?? "")
  const wait = Date.parse(asked) - (Number.isNaN(theirs) ? now : theirs)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

/** The raw answer to a request, before it is judged. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfter?: string | undefined
  readonly date?: string | undefined
}

/** The meaning of an answer for the agent. */
export type Verdict =
  /** A heartbeat of an accepted key, or a batch that was applied. */
  | "taken"
  /** The key waits for an operator. */
  | "pending"
  | "notAccepted"
  | "blocked"
  | "conflict"
  | "unauthorized"
  | "throttled"
  /** The server read the request and refuses its contents. */
  | "invalid"
  /** No such operation: a server of an older version. */
  | "missing"
  /** No answer, half an answer, or one that no Tocsin server gives. */
  | "faulty"

/** An answer as {@link Verdict}, with the words for people. */
export interface Answer {
  readonly verdict: Verdict
  readonly message: string
  /** How long the server asks to wait. */
  readonly retryAfterMillis?: number | undefined
  /** Whether some checks keep labels that changed a moment ago, so that the declaration is due again soon. */
  readonly keepsLabels?: boolean | undefined
  /** The server's time: what another program states is not a time to follow. */
  readonly date?: string | undefined
}

const MESSAGE_LENGTH = 200

/** The value of a JSON text; none where it is damaged. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields of a value; none where it is no object. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

/** The errors that a Tocsin server answers: a program in between answers the same statuses. */
const ERRORS: ReadonlyMap<string, Verdict> = new Map([
  ["400 validation", "invalid"],
  ["401 unauthorized", "unauthorized"],
  ["403 agent_not_accepted", "notAccepted"],
  ["403 agent_blocked", "blocked"],
  ["404 not_found", "missing"],
  ["409 conflict", "conflict"],
  ["413 payload_too_large", "invalid"],
  ["429 rate_limited", "throttled"],
])

/** Statuses that count from any program: a proxy's limit is a limit too, and smaller batches pass it. */
const LIMITS: ReadonlyMap<number, Verdict> = new Map([
  [413, "invalid"],
  [429, "throttled"],
])

/** The verdict of answers that only a Tocsin server gives. */
const serversVerdict = (
  status: number,
  { accepted, expected, error }: Readonly<Record<string, unknown>>,
  kind: RequestKind,
): Verdict | undefined => {
  if (kind === "enrolment" && status === 200) return accepted === true ? "taken" : undefined
  if (status === 202 && kind === "heartbeat")
    return accepted === true ? "taken" : accepted === false ? "pending" : undefined
  if (status === 202 && typeof accepted === "number") return "taken"
  if (status === 200 && typeof expected === "number") return "taken"
  return ERRORS.get(`${status} ${String(fieldsOf(error)["code"])}`)
}

/** The kinds of an agent's requests. */
export type RequestKind = "heartbeat" | "events" | "declaration" | "enrolment"

/** Judges an answer to a request. A date in `Retry-After` counts from `now` where the answer has none. */
export const judge = (answer: HttpAnswer, kind: RequestKind, now: number): Answer => {
  const body = fieldsOf(parsedJson(answer.body))
  const verdict = serversVerdict(answer.status, body, kind)
  const { message: said } = fieldsOf(body["error"])
  const words = plainLine(typeof said === "string" ? said : answer.body).replaceAll(/\s+/g, " ")
  return {
    verdict: verdict ?? LIMITS.get(answer.status) ?? "faulty",
    message: `${answer.status} ${words.slice(0, MESSAGE_LENGTH)}`.trim(),
    retryAfterMillis: boundedWait(retryAfterMillis(answer, now)),
    keepsLabels: body["labels_kept"] !== undefined,
    date: verdict === undefined ? undefined : answer.date,
  }
}

/** The longest wait that a server can ask for. */
const LONGEST_RETRY_AFTER_MILLIS = 3_600_000

const boundedWait = (asked: number | undefined): number | undefined =>
  asked && Math.min(asked, LONGEST_RETRY_AFTER_MILLIS)

/** The answer where none came. */
export const noAnswer = (message: string): Answer => ({ verdict: "faulty", message })

/** Refusals of a token that no repeat changes. */
const FINAL: ReadonlySet<Verdict> = new Set(["missing", "conflict", "invalid", "blocked"])

/**
 * A transport that shows a token once a heartbeat is answered that the key is pending. If the server
 * accepts the key, the heartbeat has the answer of an accepted one. Each token, which is read at each
 * heartbeat, is shown until it is taken or refused. `now` is the wall clock.
 */
export const enrolling = ({
  log,
  now,
  token,
  transport,
}: {
  readonly transport: Transport
  readonly token: () => string | undefined
  readonly log: (message: string) => void
  readonly now: () => number
}): Transport => {
  let ended: string | undefined
  return {
    send: async (request) => {
      const answer = await transport.send(request)
      const shown = token()
      if (request.kind !== "heartbeat" || shown === undefined || shown === ended) return answer
      const { verdict } = judge(answer, "heartbeat", now())
      if (verdict === "taken") ended = shown
      if (verdict !== "pending") return answer
      const body = JSON.stringify({ token: shown })
      const reply = await transport.send({ ...request, kind: "enrolment", body })
      const enrolled = judge(reply, "enrolment", now())
      if (enrolled.verdict === "taken") {
        ended = shown
        log("the server accepts this agent by its enrolment token")
        return { ...answer, body: '{"accepted":true}' }
      }
      if (FINAL.has(enrolled.verdict)) {
        ended = shown
        log(`the server refuses the enrolment token: ${enrolled.message}`)
      }
      return answer
    },
  }
}
