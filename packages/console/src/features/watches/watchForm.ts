import type { Watch } from "@tocsin/client"
import { pointerOfPath } from "@tocsin/contract/formats/jsonPointer"
import { isPlainValue } from "@tocsin/contract/watches/ConditionValue"
import { WATCH_ADDRESSES, watchOfAddress, type WatchOfAddress } from "@tocsin/contract/watches/watchOfAddress"
import { attempt } from "../../state/kept.ts"
import type { Texts } from "../../view/FormField.ts"
import { refusal } from "../../view/formFault.ts"

/** A host with or without a port and a path. */
const BARE = /^[\w.-]+(?::\d+)?(?:\/\S*)?$/

/** Addresses of a host that is no page: with a port, that port. */
const othersOf = (address: string): string => {
  const [host = "", port] = (address.split("/")[0] ?? "").split(":")
  return `tcp://${host}:${port ?? "PORT"} a port, ping:${host} a host`
}

/** The name and the probe of an address. */
export const watchOf = (address = "") => {
  const watch = watchOfAddress(address)
  if (watch === undefined)
    throw refusal(
      BARE.test(address)
        ? `Address lacks its beginning: https://${address} or http://${address} is a page, ${othersOf(address)}.`
        : `Address must be ${WATCH_ADDRESSES}.`,
    )
  return watch
}

type Labels = Readonly<Record<string, string>>

/** A value that would be read as another stands in quotes, as JSON has it. */
const labelText = ([name, value]: readonly [string, string]): string =>
  `${name}=${value !== value.trim() || /^"|[,\n\r]/.test(value) ? JSON.stringify(value) : value}`

const labelsText = (labels: Labels): string => Object.entries(labels).map(labelText).join(", ")

export const labelsField = (labels: Labels = {}) => ({
  label: "Labels",
  isRare: true,
  example: "team=shop, env=production",
  hint: "For routes, groups and reports.",
  initial: labelsText(labels),
  refusedAs: /^(?:Labels|labels\b\S*)/,
})

/** One label: a comma or a line ends it, unless its value stands in quotes. */
const LABEL = /[^=,\n]*=[^\S\n]*"(?:[^"\\\n]|\\.)*"[^\S\n]*(?=[,\n]|$)|[^,\n]+/g

const unquoted = (value: string): string => {
  const read = value.startsWith('"') ? attempt((): unknown => JSON.parse(value)) : undefined
  return typeof read === "string" ? read : value
}

/** Labels as a field has them. An unedited text means the former labels exactly. */
export const labelsIn = (text: string, former?: Labels): Labels =>
  former && text === labelsText(former)
    ? former
    : Object.fromEntries(
        Array.from(text.matchAll(LABEL), ([each]) => each.trim())
          .filter((each) => each !== "")
          .map((each) => {
            const [, name, value] = /^([^=\s]+)\s*=\s*(.*)$/s.exec(each) ?? []
            if (name === undefined || value === undefined)
              throw refusal(`Labels must be such as team=shop: ${each} lacks a value.`)
            return [name, unquoted(value)] as const
          }),
      )

/** The options of a probe in the form, beside its address. */
export const OPTIONS = [
  ...(["text", "not_text", "json", "header", "statuses", "method"] as const),
  ...(["slow", "late", "warning", "critical", "verify", "headers", "token", "body"] as const),
] as const

/** A text that would be read as another value is written as JSON has it. */
const written = (value: unknown): string =>
  typeof value === "string" && valueIn(value) === value ? value : JSON.stringify(value)

type Values = Readonly<Record<string, unknown>>

const linesOf = (values: Values = {}): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${written(value)}`)
    .join("\n")

/** The options of a watch, as the texts of its form. */
export const textsOf = (watch: Watch): Texts => {
  const { dns, http, ping, tcp, tls, websocket } = watch
  const { header, json, not_text = "", status = http?.status, text = http?.text } = http?.expect ?? {}
  const days = http?.days ?? tls?.days
  const time = (http ?? tls ?? tcp ?? dns ?? ping ?? websocket)?.time
  return {
    text: text ?? tcp?.expect ?? websocket?.expect ?? "",
    not_text,
    json: linesOf(json),
    header: linesOf(header),
    statuses: status?.join(", ") ?? "",
    method: http?.method ?? "GET",
    slow: time?.warning ?? "",
    late: time?.critical ?? "",
    warning: `${days?.warning ?? ""}`,
    critical: `${days?.critical ?? ""}`,
    verify: `${(http ?? tls ?? websocket)?.verify ?? true}`,
  }
}

/** Numbers and ranges, as a request has them. */
const numbersIn = (text = ""): ReadonlyArray<number | string> | undefined =>
  text === "" ? undefined : text.split(/[,;\s]+/).map((one) => (one.includes("-") ? one : Number(one)))

const FIELD = /^([^:\s]+)\s*:\s*(\S.*)$/
/** The colon may lack where a place in a JSON comes first. */
const CONDITION = /^([^:\s]+)(?:\s*:\s*|\s+)(\S.*)$/

const pairsIn = (text = "", form: RegExp, example: string): ReadonlyArray<readonly [string, string]> =>
  text
    .split("\n")
    .flatMap((line) => line.trim() || [])
    .map((line) => {
      const [, name, value] = form.exec(line) ?? []
      if (name === undefined || value === undefined)
        throw refusal(`Write one in each line: ${example}. A colon or a value is missing in ${line}`)
      return [name, value] as const
    })

const orNone = <A extends object>(found: A): A | undefined =>
  Object.values(found).every((each) => each === undefined) ? undefined : found

const headersIn = (text = "") => {
  const pairs = pairsIn(text, FIELD, HEADER_EXAMPLE)
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}
export const HEADER_EXAMPLE = "authorization: Bearer KEY"
export const JSON_EXAMPLE = "/queue: < 100"

/** Numbers, true, false and null are those values, and what stands in quotes is that text; all else is text. */
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?|"(?:[^"\\]|\\["\\])*")$/

/** The VALUE of what people write, also without the blank behind an operator; `undefined` of `< ten`. */
const valueIn = (text: string): unknown => {
  const [, operator, operand = ""] = /^([<>]=?|!=|==)\s*(.*)$/.exec(text) ?? []
  if (operator === "!=") return `!= ${operand}`
  const wanted = operator === undefined ? text : operand
  if (operator !== undefined && operator !== "==")
    return /^-?\d/.test(operand) ? `${operator} ${operand}` : undefined
  if (!LITERAL.test(wanted)) return operator === undefined ? text : `= ${operand}`
  const value: unknown = JSON.parse(wanted)
  return typeof value !== "string" || isPlainValue(value) ? value : `= ${value}`
}

const statedIn = (text: string): unknown => {
  const value = valueIn(text)
  if (value === undefined) throw refusal(`${text} compares with no number: write < 10, or = TEXT`)
  return value
}

const valuesIn = (text = "", example: string) => {
  const pairs = pairsIn(text, CONDITION, example)
  return pairs.length === 0
    ? undefined
    : Object.fromEntries(pairs.map(([name, value]) => [name, statedIn(value)]))
}

/** Values by JSON Pointer; a path of names, as others write it, is one. */
const membersIn = (text: string | undefined) => {
  const values = valuesIn(text, JSON_EXAMPLE)
  return values && Object.fromEntries(Object.entries(values).map(([path, value]) => [pointerIn(path), value]))
}

const NUMBERED = /\.(\d+)(?![^.[])/g

const pointerIn = (path: string): string => {
  const pointer = path.startsWith("/") ? path : pointerOfPath(path.replaceAll(NUMBERED, "[$1]"))
  if (pointer === undefined) throw refusal(`"${path}" is no place in a JSON: write one such as /data/0/state`)
  return pointer
}

/** Lines that nobody edited mean what they were made of, which they may not be able to say. */
const orRead = (stored: Values | undefined, lines = "", read: (lines: string) => Values | undefined) =>
  stored && lines === linesOf(stored).trim() ? stored : read(lines)

/** The options that only a page has. Statuses and texts stand in `expect` where anything else does. */
const pageOptions = (texts: Texts, former: Watch["http"]) => {
  const { body = "", header, headers, json, method, not_text = "", statuses, text = "", token = "" } = texts
  const given = { text: text || undefined, status: numbersIn(statuses) }
  const beside = {
    not_text: not_text || undefined,
    json: orRead(former?.expect?.json, json, membersIn),
    header: orRead(former?.expect?.header, header, (lines) => valuesIn(lines, "content-type: ~ text/*")),
    warning: former?.expect?.warning,
  }
  const isPlain = orNone(beside) === undefined && !given.status?.some((one) => typeof one === "string")
  const wanted = isPlain ? { ...given, expect: undefined } : { expect: { ...given, ...beside } }
  const kept = { text: undefined, status: undefined }
  return {
    ...kept,
    ...wanted,
    method: method === "GET" ? undefined : method,
    headers: headersIn(headers),
    auth: token === "" ? undefined : { bearer: token },
    body: body === "" ? undefined : body,
  }
}

/**
 * The probe of an address, with the options of the form, and those of the former one that the form lacks;
 * header fields, a token and a body are secrets, which no answer shows.
 */
export const probeOf = (
  probe: WatchOfAddress["probe"],
  texts: Texts,
  { dns, http, ping, tcp, tls, websocket }: Partial<Watch> = {},
) => {
  const { critical, late, slow, text = "", verify: trusts, warning } = texts
  const verify = trusts === "false" ? false : undefined
  const [warnedAt, criticalAt] = [numbersIn(warning)?.[0], numbersIn(critical)?.[0]]
  const days = orNone({ warning: warnedAt, critical: criticalAt })
  const time = orNone({ warning: slow || undefined, critical: late || undefined })
  const page = pageOptions(texts, http)
  if ("http" in probe) return { http: { ...http, ...page, days, time, verify, ...probe.http } }
  const { headers, text: _text, ...ofPages } = { ...page, ...page.expect, expect: undefined }
  if (orNone(ofPages) !== undefined)
    throw refusal(
      "Only a page has statuses, JSON, a method, a token, a body and header fields of its answer.",
    )
  const expect = text || undefined
  if ("websocket" in probe)
    return { websocket: { ...websocket, headers, expect, time, verify, ...probe.websocket } }
  if (headers !== undefined) throw refusal("Only pages and wss:// addresses get header fields.")
  if ("tcp" in probe && days === undefined) return { tcp: { ...tcp, expect, time, ...probe.tcp } }
  if (expect !== undefined) throw refusal("Only pages, ports and WebSockets have a text.")
  if ("tls" in probe) return { tls: { ...tls, port: undefined, days, time, verify, ...probe.tls } }
  if (days !== undefined) throw refusal("Only pages and tls:// addresses have a certificate.")
  if ("ping" in probe) return { ping: { ...ping, time, ...probe.ping } }
  return { dns: { ...dns, time, ...("dns" in probe && probe.dns) } }
}

/** Where a probe has an option that its field calls otherwise. */
export const PLACES: Readonly<Record<string, string>> = {
  text: "(?:text|expect(?!\\.))",
  statuses: "status",
  slow: "time\\.warning",
  late: "time\\.critical",
  warning: "days\\.warning",
  critical: "days\\.critical",
  token: "auth",
}
