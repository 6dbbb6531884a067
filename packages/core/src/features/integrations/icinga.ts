import { Duration, Option, Predicate } from "effect"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { readJsonBody } from "./alerts.ts"
import { JSON_TEXT, type Kind, OF_MANY_CHECKS, type Protocol } from "./Kind.ts"
import { passiveResult, STATES } from "./nagios.ts"
import {
  invalid,
  NOT_FOUND,
  NOTHING_EXPECTED,
  readingOf,
  type Refusal,
  type SenderRequest,
  type Translate,
} from "./Report.ts"

const PATH = "v1/actions/process-check-result"

type Parameters = Readonly<Record<string, unknown>>

/** The parameters of a request: those of its body count before those of its query. */
const parametersOf = ({ body, query }: SenderRequest): { readonly given: Parameters } | Refusal => {
  const inQuery = Object.fromEntries(query)
  if (body.trim() === "") return { given: inQuery }
  const read = readJsonBody(body)
  if ("refused" in read) return read
  if (!Predicate.isObject(read.json)) return invalid("the request body must be a JSON object")
  return { given: { ...inQuery, ...read.json } }
}

const VALUE = String.raw`("(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)`
const EQUALITY = String.raw`(host|service)\.name\s*==\s*${VALUE}`
const FILTER = new RegExp(String.raw`^\s*${EQUALITY}\s*(?:&&\s*${EQUALITY}\s*)?$`, "u")

const parsed = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** A literal of a filter, or the variable of that name. */
const valueOf = (text: string, variables: unknown): unknown => {
  if (text.startsWith('"')) return Option.getOrUndefined(parsed(text))
  return Predicate.isObject(variables) && Object.hasOwn(variables, text) ? variables[text] : undefined
}

interface Subject {
  readonly host: string
  /** Absent of a host itself. */
  readonly service: string | undefined
}

const subjectOfFilter = (filter: string, variables: unknown): Subject | undefined => {
  const [whole, name = "", value = "", otherName, otherValue = ""] = FILTER.exec(filter) ?? []
  if (whole === undefined || name === otherName) return undefined
  const named = new Map([[name, valueOf(value, variables)]])
  if (otherName !== undefined) named.set(otherName, valueOf(otherValue, variables))
  const [host, service] = [named.get("host"), named.get("service")]
  if (typeof host !== "string" || host === "") return undefined
  if (!named.has("service")) return { host, service: undefined }
  return typeof service === "string" && service !== "" ? { host, service } : undefined
}

/** The one host or service that a request is about, if it names one. */
const subjectOf = ({ filter, filter_vars, host, service, type }: Parameters): Subject | undefined => {
  if (typeof service === "string") {
    const at = service.indexOf("!")
    return at > 0 && at < service.length - 1
      ? { host: service.slice(0, at), service: service.slice(at + 1) }
      : undefined
  }
  if (typeof host === "string") return host === "" ? undefined : { host, service: undefined }
  const subject = typeof filter === "string" ? subjectOfFilter(filter, filter_vars) : undefined
  const isService =
    typeof type === "string" ? type.toLowerCase() === "service" : subject?.service !== undefined
  return subject !== undefined && isService === (subject.service !== undefined) ? subject : undefined
}

/** A label that is no single word is quoted; senders write it as it is. */
const quoted = (performance: string): string => {
  const at = performance.lastIndexOf("=")
  const label = performance.slice(0, Math.max(0, at))
  const isPlain = !/[\s'=]/u.test(label) || /^'.*'$/u.test(label)
  return isPlain ? performance : `'${label.replaceAll("'", "''")}'${performance.slice(at)}`
}

/** The output as plugins write it: the numbers follow the first line. */
const textOf = ({ performance_data: data, plugin_output }: Parameters): string => {
  const [first = "", ...rest] = String(plugin_output).split("\n")
  const listed = Array.isArray(data) ? data.filter((each) => typeof each === "string").map(quoted) : [data]
  const measured = listed
    .filter((each) => typeof each === "string")
    .join(" ")
    .replaceAll(/\s+/gu, " ")
  const head = measured === "" ? first : `${first}${first.includes("|") ? " " : "|"}${measured}`
  return [head, ...rest].join("\n")
}

const MOST_TTL = Duration.toMillis(Duration.days(31))
const MILLIS = 1_000

const expectsOf = ({ ttl }: Parameters) => {
  const millis = Number(ttl) * MILLIS
  return millis > 0 ? ({ by: "within", millis: Math.min(millis, MOST_TTL) } as const) : NOTHING_EXPECTED
}

/** Icinga takes other states of a service as unknown, and of a host not at all. */
const statusOf = (exitStatus: unknown, isHost: boolean): CheckStatus | undefined => {
  const isNumber =
    typeof exitStatus === "number" || (typeof exitStatus === "string" && exitStatus.trim() !== "")
  const state = isNumber ? Number(exitStatus) : Number.NaN
  if (isHost) return state === 0 ? "ok" : state === 1 ? "critical" : undefined
  return Number.isNaN(state) ? undefined : (STATES[state] ?? "unknown")
}

const resultText = (code: number, status: string): string => JSON.stringify({ results: [{ code, status }] })

const protocol: Protocol = {
  ...JSON_TEXT,
  contentType: "application/json",
  say: (failure) => {
    if (failure === undefined) return resultText(200, "OK")
    return failure.code === "not_found"
      ? JSON.stringify({ error: 404, status: "No objects found." })
      : resultText(errorStatus[failure.code], failure.message)
  },
}

const translate: Translate = (request, context) => {
  if (request.path.join("/") !== PATH) return NOT_FOUND
  const parameters = parametersOf(request)
  if ("refused" in parameters) return parameters
  const { given } = parameters
  const subject = subjectOf(given)
  if (subject === undefined) return NOT_FOUND
  const { host, service } = subject
  const { execution_end, exit_status, plugin_output } = given
  const status = statusOf(exit_status, service === undefined)
  if (status === undefined) return invalid("exit_status must be the number of a state: 0 or 1 for a host")
  if (typeof plugin_output !== "string") return invalid("plugin_output must be a text")
  const stated = {
    host,
    service,
    status,
    text: textOf(given),
    seconds: Number(execution_end),
  }
  const name = service === undefined ? host : `${host}!${service}`
  const body = resultText(200, `Successfully processed check result for object '${name}'.`)
  const report = passiveResult({ ...stated, expects: expectsOf(given) }, context)
  return { ...readingOf(report), answer: { status: 200, body } }
}

/** Passive results by Icinga's API (docs/rules.md#nagios). */
export const icinga: Kind = {
  ...OF_MANY_CHECKS,
  protocol,
  translate,
  isRefusedForNow: true,
  options: [],
}
