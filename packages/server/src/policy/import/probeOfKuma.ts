import { pointerOfPath } from "@tocsin/contract/formats/jsonPointer"
import { isPlainValue } from "@tocsin/contract/watches/ConditionValue"
import { PAGE_ADDRESS, SOCKET_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import { BOUNDS, METHODS, MOST, OPEN_FIELDS, RECORD_TYPES } from "@tocsin/contract/watches/watchOptions"
import { isIP } from "node:net"
import type { MovedPolicy, Taken } from "./MovedPolicy.ts"

const KUMA_REDIRECTS = 10
/** A part of a watch, or why there is none. */
type Probe = Taken | string

export type Leave = (why: string) => void

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number(value ?? 0))
export const isYes = (value: unknown): boolean => value === 1 || value === true

export const jsonOf = (text: unknown): unknown => {
  try {
    return JSON.parse(textOf(text))
  } catch {
    return undefined
  }
}

/** Header fields, their values as variables. */
export const headersOf = (moved: MovedPolicy, id: string, given: Readonly<Record<string, unknown>>): Taken =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      OPEN_FIELDS.has(name.toLowerCase()) ? String(value) : moved.secret(`${id}_${name}`, String(value)),
    ]),
  )

/** A text as VALUE, which may look like an operator. */
const valueOfText = (text: string): string => (isPlainValue(text) ? text : `= ${text}`)

/** As JSON writes them: `007` is a text. */
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/

/** The VALUE that is what a text says: a number, `true`, `false`, `null`, or that text. */
export const equalTo = (text: string): unknown => (LITERAL.test(text) ? JSON.parse(text) : valueOfText(text))

/** The VALUE of an operator and a text. */
const valueOf = (operator: string, wanted: string): unknown => {
  if (operator === "==") return equalTo(wanted)
  if (operator === "!=") return `!= ${wanted}`
  if (operator === "contains") return /[*?]/.test(wanted) ? undefined : `~ *${wanted}*`
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(wanted)
  return ["<", "<=", ">", ">="].includes(operator) && isNumber ? `${operator} ${wanted}` : undefined
}

const expectOf = (monitor: Taken): Probe => {
  const { type } = monitor
  if (type === "keyword") {
    const name = isYes(monitor["invert_keyword"]) ? "not_text" : "text"
    return { [name]: textOf(monitor["keyword"]) }
  }
  if (type !== "json-query") return {}
  const pointer = pointerOfPath(textOf(monitor["json_path"]))
  if (pointer === undefined) return `its query ${textOf(monitor["json_path"])} is more than a path`
  const value = valueOf(textOf(monitor["json_path_operator"]) || "==", textOf(monitor["expected_value"]))
  return value === undefined
    ? `its query compares by ${textOf(monitor["json_path_operator"])} with what no number or text is`
    : { json: { [pointer]: value } }
}

const statusesOf = (monitor: Taken, leave: Leave): Taken => {
  const given = jsonOf(monitor["accepted_statuscodes_json"])
  const all = Array.isArray(given) ? given.map(String) : []
  // A watch that follows no redirect takes one, unless it says what it takes.
  const isUsual = numberOf(monitor["maxredirects"] ?? KUMA_REDIRECTS) > 0
  if (all.length === 0 || (isUsual && all.length === 1 && all[0] === "200-299")) return {}
  if (all.length > MOST.ranges) leave(`its statuses after the first ${MOST.ranges}`)
  return {
    status: all.slice(0, MOST.ranges).map((one) => (/^\d+$/.test(one) ? Number(one) : one)),
  }
}

const REFUSED_AUTH: Readonly<Record<string, string>> = { ntlm: "NTLM", "oauth2-cc": "OAuth2", mtls: "mTLS" }
const SENDS_NONE = new Set(["GET", "HEAD"])
const PAGE_METHODS: ReadonlySet<string> = new Set(METHODS)

const authOf = (moved: MovedPolicy, id: string, monitor: Taken): Taken => {
  const secret = (part: string, value: unknown) => moved.secret(`${id}_${part}`, String(value ?? ""))
  if (monitor["auth_method"] === "bearer")
    return { auth: { bearer: secret("TOKEN", monitor["bearer_token"]) } }
  const [user, password] = [textOf(monitor["basic_auth_user"]), textOf(monitor["basic_auth_pass"])]
  // Such credentials stand in a header field.
  if (monitor["auth_method"] !== "basic" || /^$|:/.test(user) || password === "") return {}
  return { auth: { basic: { user, password: secret("PASSWORD", password) } } }
}

const fieldsOf = (monitor: Taken, leave: Leave): Record<string, unknown> => {
  const given = jsonOf(monitor["headers"])
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given }
  if (textOf(monitor["headers"]).trim() !== "" && given !== null)
    leave("its headers, which are no JSON object")
  return {}
}

const pageOf = (moved: MovedPolicy, id: string, monitor: Taken, leave: Leave): Probe => {
  const url = textOf(monitor["url"])
  const method = textOf(monitor["method"]).toUpperCase() || "GET"
  const refused = REFUSED_AUTH[textOf(monitor["auth_method"])]
  if (refused !== undefined) return `it signs in by ${refused}`
  if (!PAGE_ADDRESS.test(url)) return "its address is none of a page without a user"
  if (!PAGE_METHODS.has(method)) return `its method ${method} has no equal`
  const wanted = expectOf(monitor)
  if (typeof wanted === "string") return wanted
  const expect = { ...statusesOf(monitor, leave), ...wanted }
  if (method === "HEAD" && ("json" in expect || "text" in expect || "not_text" in expect))
    return "it searches a page and asks by HEAD"
  const fields = fieldsOf(monitor, leave)
  const names = new Set(Object.keys(fields).map((name) => name.toLowerCase()))
  const body = textOf(monitor["body"])
  const isSent = body.trim() !== "" && !SENDS_NONE.has(method)
  if (body.trim() !== "" && !isSent) leave(`its body, which ${method} does not send`)
  const encoding = textOf(monitor["http_body_encoding"])
  const type = Object.hasOwn(CONTENT_TYPES, encoding) ? CONTENT_TYPES[encoding] : CONTENT_TYPES["json"]
  if (isSent && !names.has("content-type")) fields["Content-Type"] = type
  const auth = names.has("authorization") ? {} : authOf(moved, id, monitor)
  if (!names.has("authorization") && Object.keys(auth).length === 0)
    Object.assign(fields, signInField(monitor))
  const isUnverified = isYes(monitor["ignore_tls"])
  if (isUnverified && url.toLowerCase().startsWith("https:")) leave(EXPIRED)
  const redirects = numberOf(monitor["maxredirects"] ?? KUMA_REDIRECTS)
  if (redirects > BOUNDS.redirects.max)
    leave(`its ${redirects} redirects, of which ${BOUNDS.redirects.max} stay`)
  return {
    http: {
      url,
      ...(method !== "GET" && { method }),
      ...(Object.keys(fields).length > 0 && { headers: headersOf(moved, id, fields) }),
      ...auth,
      ...(isSent && { body }),
      ...(Object.keys(expect).length > 0 && { expect }),
      ...(redirects !== KUMA_REDIRECTS && { redirects: Math.min(redirects, BOUNDS.redirects.max) }),
      ...(isUnverified && { verify: false }),
    },
  }
}

/** A watch that trusts any certificate still looks at its last day. */
export const EXPIRED = "that it takes an expired certificate, which is critical here"

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  xml: "text/xml; charset=utf-8",
  form: "application/x-www-form-urlencoded",
}

const DNS_TYPES: ReadonlySet<string> = new Set(RECORD_TYPES)

const SEVERAL_FIELDS = new Set(["MX", "SOA", "SRV"])

/** Whether a text can be a record as a watch has it: the others compare one field of several. */
export const isWholeRecord = (type: string, text: string): boolean =>
  text !== "" && (!SEVERAL_FIELDS.has(type) || text.includes(" "))

const nameOf = (monitor: Taken, leave: Leave): Probe => {
  const type = textOf(monitor["dns_resolve_type"]) || "A"
  if (!DNS_TYPES.has(type)) return `its records of type ${type} have no equal`
  const port = numberOf(monitor["port"]) || 53
  const servers = textOf(monitor["dns_resolve_server"])
    .split(",")
    .flatMap((one) => one.trim() || [])
  const known = servers.filter((one) => isIP(one) !== 0)
  if (known.length < servers.length) leave("its name servers that are no addresses")
  const conditions = jsonOf(monitor["conditions"])
  const all: ReadonlyArray<Taken> = Array.isArray(conditions) ? conditions : []
  const isEqual = (one: Taken, n: number): boolean =>
    one["variable"] === "record" &&
    one["operator"] === "equals" &&
    (n === 0 || one["andOr"] === "and") &&
    isWholeRecord(type, textOf(one["value"]))
  const equal = all.every(isEqual) ? all.map((one) => textOf(one["value"])) : []
  if (equal.length < all.length) leave("its conditions other than record equals")
  return {
    dns: {
      name: textOf(monitor["hostname"]),
      ...(type !== "A" && { type }),
      ...(known.length > 0 && {
        servers: known.map((one) => (isIP(one) === 6 ? `[${one}]:${port}` : `${one}:${port}`)),
      }),
      ...(equal.length > 0 && { expect: equal }),
    },
  }
}

/** Credentials as a header field. */
const signInField = (monitor: Taken): Taken => {
  const {
    auth_method: method,
    basic_auth_pass: password,
    basic_auth_user: user,
    bearer_token: token,
  } = monitor
  if (method === "bearer") return { authorization: `Bearer ${textOf(token)}` }
  if (method !== "basic") return {}
  const credentials = Buffer.from(`${textOf(user)}:${textOf(password)}`).toString("base64")
  return { authorization: `Basic ${credentials}` }
}

/** That a WebSocket closes as usual, and the column's value where nobody set it. */
const USUAL_CODES = new Set(["", "[]", '["1000"]', '["200-299"]'])

/** The probe of a monitor of each type that has one. */
export const probeOf = (moved: MovedPolicy, id: string, monitor: Taken, leave: Leave): Probe => {
  const host = textOf(monitor["hostname"])
  switch (monitor["type"]) {
    case "http":
    case "keyword":
    case "json-query":
      return pageOf(moved, id, monitor, leave)
    case "port":
      if (["secure", "starttls"].includes(textOf(monitor["smtp_security"])))
        leave("its examination of the certificate")
      return { tcp: { host, port: numberOf(monitor["port"]) } }
    case "ping": {
      const size = numberOf(monitor["packet_size"] ?? 56)
      if (size !== 56) leave(`its packets of ${size} bytes`)
      const count = numberOf(monitor["ping_count"])
      const { max } = BOUNDS.count
      if (count > max) leave(`its ${count} packets, of which ${max} stay`)
      return { ping: { host, ...(count > 0 && { count: Math.min(count, max) }) } }
    }
    case "dns":
      return nameOf(monitor, leave)
    case "websocket-upgrade": {
      const url = textOf(monitor["url"])
      if (!SOCKET_ADDRESS.test(url)) return "its address is none of a WebSocket without a user"
      if (isYes(monitor["ws_ignore_sec_websocket_accept_header"]))
        leave("that it ignores Sec-WebSocket-Accept")
      const refused = REFUSED_AUTH[textOf(monitor["auth_method"])]
      if (refused !== undefined) return `it signs in by ${refused}`
      const protocol = textOf(monitor["ws_subprotocol"])
      const codes = textOf(monitor["accepted_statuscodes_json"])
      if (!USUAL_CODES.has(codes)) leave(`its close codes ${codes}`)
      const fields = {
        ...fieldsOf(monitor, leave),
        ...(protocol !== "" && { "Sec-WebSocket-Protocol": protocol }),
        ...signInField(monitor),
      }
      const isPlain = Object.keys(fields).length === 0
      return {
        websocket: {
          url,
          ...(!isPlain && { headers: headersOf(moved, id, fields) }),
          ...(isYes(monitor["ignore_tls"]) && { verify: false }),
        },
      }
    }
    default:
      return `a monitor of type ${String(monitor["type"])} has no equal`
  }
}

/** The agent of the check that a monitor becomes. */
export const agentOf = (monitor: Taken): string => (monitor["type"] === "push" ? "kuma" : "watches")
