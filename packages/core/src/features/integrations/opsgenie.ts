import { Duration, Predicate, Result, Schema } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import { decodeBase64Url, encodeBase64Url } from "../../kernel/engine/base64Url.ts"
import type { PagedTrigger } from "./PagedAlert.ts"
import { resultOf, severityOf } from "./alerts.ts"
import type { Texts } from "./deriveCheck.ts"
import type { Kind } from "./Kind.ts"
import {
  alertIdOf,
  byName,
  heartbeatId,
  madeName,
  PAGING,
  PAGING_OPTIONS,
  PAGING_PROTOCOL,
  readAct,
  readShallowJson,
  readStated,
  textOf,
  textsIn,
} from "./paging.ts"
import { termsOf, UUID } from "./pings.ts"
import {
  type Answer,
  invalid,
  NOT_FOUND,
  type Reading,
  readingOf,
  type Refusal,
  type SenderRequest,
  type Translate,
  type TranslationContext,
} from "./Report.ts"
import { durationOf } from "./sources.ts"

/** The requests about one alert, below its name: the method, what they report, and how their outcome is called. */
export const ALERT_REQUESTS = {
  close: ["POST", "resolved", "Closed alert"],
  acknowledge: ["POST", "acknowledged", "Alert acknowledged"],
  unacknowledge: ["POST", "unacknowledged", "Alert unacknowledged"],
  notes: ["POST", "noted", "Note added"],
  message: ["PUT", "amended", "Message updated"],
  description: ["PUT", "amended", "Description updated"],
} as const satisfies Readonly<Record<string, readonly ["POST" | "PUT", PagedTrigger, string]>>

const CREATED = "Created alert"
const PONG = "PONG - Heartbeat received"
const URGENT: ReadonlyArray<unknown> = ["P1", "P2"]

/** The ID of the alert of a check, which is a UUID as Opsgenie's are. */
const alertUuid = (
  { name, sha256 }: Pick<TranslationContext, "name" | "sha256">,
  check_id: CheckId,
): string => {
  const digits = sha256(`${name}/${check_id}`)
  const [first, ...others] = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`]
  return [first, ...others, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join("-")
}

/** The outcome of a request, which its ID contains: so nothing is stored to answer for it later. */
const Outcome = Schema.Tuple([Schema.String, Schema.String, Schema.String])
const decodeOutcome = Schema.decodeUnknownResult(Schema.fromJsonString(Outcome))

const taken = (
  status: string,
  alertId: string,
  alias: string,
  result = "Request will be processed",
): Answer => ({
  status: 202,
  body: JSON.stringify({
    result,
    took: 0,
    requestId: encodeBase64Url(JSON.stringify([status, alertId, alias])),
  }),
})

const readOutcome = (requestId: string): Reading | Refusal =>
  Result.match(Result.flatMap(decodeBase64Url(requestId), decodeOutcome), {
    onFailure: () => NOT_FOUND,
    onSuccess: ([status, alertId, alias]) =>
      readAct(undefined, {
        status: 200,
        body: JSON.stringify({
          data: { success: true, isSuccess: true, status, alertId, alias },
          took: 0,
          requestId,
        }),
      }),
  })

/** The labels that tags such as `team:db` name. */
const labelsOfTags = (tags: unknown): Texts => {
  const all: ReadonlyArray<unknown> = Array.isArray(tags) ? tags : []
  const pairs = all.flatMap((tag) => {
    const [, name = "", value = ""] = /^([^:]+):(.+)$/su.exec(textOf(tag)) ?? []
    return name === "" ? [] : [[name, value] as const]
  })
  return Object.fromEntries(pairs)
}

type Fields = Readonly<Record<string, unknown>>

const readCreated = (fields: Fields, context: TranslationContext): Reading | Refusal => {
  const { details, priority, tags } = fields
  const { alias: given = "", description = "", entity, source, ...texts } = textsIn(fields)
  const message = texts["message"] ?? ""
  const { options, sha256 } = context
  if (message === "") return invalid("message must be a text")
  const alias = given || madeName([message, entity, source], sha256)
  const check_id = alertIdOf(alias, sha256)
  const labels = byName({ ...labelsOfTags(tags), ...textsIn(details) })
  // Alertmanager has a label for it, and no priority unless it is configured.
  const isUrgent =
    priority === undefined ? severityOf(labels["severity"]) === "critical" : URGENT.includes(priority)
  const status = isUrgent ? "critical" : "warning"
  const answer = taken(CREATED, alertUuid(context, check_id), alias)
  return readStated({ check_id, status, lines: [message, description], labels }, options, answer)
}

const isAlias = (query: SenderRequest["query"]): boolean =>
  query.some(([name, value]) => name === "identifierType" && value.toLowerCase() === "alias")

/** The row of {@link ALERT_REQUESTS} that a request asks for; `undefined` if it asks for none. */
const aboutAlert = ({ method, path }: Pick<SenderRequest, "method" | "path">) => {
  const [version, subject, , ...rest] = path
  const name = rest.at(-1)
  if (version !== "v2" || subject !== "alerts") return undefined
  return Object.entries(ALERT_REQUESTS).find(([each, [by]]) => each === name && by === method)
}

const readAbout = (
  { alert, path, query }: SenderRequest,
  [name, [, trigger, outcome]]: NonNullable<ReturnType<typeof aboutAlert>>,
  fields: Fields,
  context: TranslationContext,
): Reading | Refusal => {
  const byAlias = isAlias(query)
  // Senders, and proxies that decode, leave a slash of an alias as it is.
  const identifier = path.slice(2, -1).join("/")
  if (!byAlias && !UUID.test(identifier))
    return invalid("the path must have the id of an alert; for an alias, add ?identifierType=alias")
  const check_id = byAlias ? alertIdOf(identifier, context.sha256) : alert
  const id = check_id === undefined ? identifier : alertUuid(context, check_id)
  const answer = taken(outcome, id, byAlias ? identifier : (check_id ?? ""))
  if (check_id === undefined) return readAct(undefined, answer)
  const { note = "", ...texts } = textsIn(fields)
  if (trigger === "resolved")
    return readStated({ check_id, status: "ok", lines: [note] }, context.options, answer)
  const act =
    trigger === "amended"
      ? ({ text: texts[name] ?? "", part: name === "message" ? "first" : "others" } as const)
      : { text: note }
  return readAct({ check_id, trigger, ...act }, answer)
}

const readHeartbeat = (
  { body, path: [, , name = ""], query }: SenderRequest,
  { options, sha256 }: TranslationContext,
): Reading => {
  const terms = termsOf(query)
  const expects =
    Object.keys(terms).length > 0
      ? ({ by: "terms", terms } as const)
      : ({
          by: "within",
          millis: Duration.toMillis(durationOf(options, "heartbeat_after")),
          incident: options.incident ?? "own",
        } as const)
  const result = resultOf(heartbeatId(name, sha256), "ok", body, expects)
  const answer = taken(PONG, "", "", PONG)
  return { ...readingOf({ ...result, isOfKnownCheck: false }), answer }
}

const translate: Translate = (request, context) => {
  const { body, method, path } = request
  const [version, subject, name = "", last, ...rest] = path
  if (version !== "v2" || (rest.length > 0 && subject !== "alerts")) return NOT_FOUND
  if (subject === "heartbeats" && last === "ping" && name !== "") return readHeartbeat(request, context)
  if (subject !== "alerts") return NOT_FOUND
  if (method === "GET") return name === "requests" && last !== undefined ? readOutcome(last) : NOT_FOUND
  const read = body === "" ? { json: {} } : readShallowJson(body)
  if ("refused" in read) return read
  if (!Predicate.isObject(read.json)) return invalid("the request body must be an object")
  if (path.length === 2) return method === "POST" ? readCreated(read.json, context) : NOT_FOUND
  const about = aboutAlert(request)
  return about === undefined ? NOT_FOUND : readAbout(request, about, read.json, context)
}

/** Opsgenie's API of alerts and heartbeats, version 2 (docs/rules.md#pagerduty-and-opsgenie). */
export const opsgenie: Kind = {
  ...PAGING,
  protocol: {
    ...PAGING_PROTOCOL,
    methods: ["GET", "POST", "PUT", "PATCH"],
    say: (failure) => JSON.stringify({ message: failure?.message, took: 0 }),
  },
  translate,
  alertNamed: (request, context) => {
    const {
      path: [, , identifier = ""],
      query,
    } = request
    if (aboutAlert(request) === undefined || isAlias(query) || !UUID.test(identifier)) return undefined
    const id = identifier.toLowerCase()
    return (check_id) => alertUuid(context, check_id) === id
  },
  options: [...PAGING_OPTIONS, "heartbeat_after"],
}
