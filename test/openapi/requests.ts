import * as fc from "fast-check"
import { arbitraryOf, type Pools } from "./arbitraryOf.ts"
import { mutated } from "./mutated.ts"
import { type OpenApi, type Parameter, type PlacedOperation, requiredHeaders } from "./OpenApi.ts"
import { KEYS } from "./populatePools.ts"
import type { Sent } from "./send.ts"
import { READ_TOKEN, UI_TOKEN } from "./DocumentedServer.ts"

/** A request for an operation, with its parts. */
export interface Generated extends Sent {
  readonly placed: PlacedOperation
  readonly path: Readonly<Record<string, string>>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** The body as JSON, where it is JSON. */
  readonly json: unknown
  readonly token: string | undefined
}

export const TOO_LARGE = " ".repeat(1_048_577)
const NO_JSON = ["", "{", "null", "[]", '"x"', "1e999", "\ufeff", "not JSON", "[".repeat(100_000), TOO_LARGE]

/** Never empty: then it would be another path. */
const HOSTILE = [
  "..",
  "a/b",
  "%",
  "%2e",
  "x".repeat(129),
  "é",
  " ",
  "a;b",
  "a#b",
  "a?b",
  "\0",
  "admission",
  "x".repeat(64),
]

const valueOf = (document: OpenApi, pools: Pools, { name, schema }: Parameter): fc.Arbitrary<string> => {
  const existing = pools[name] ?? []
  const fitting = arbitraryOf(document, pools)(schema).map(String)
  return fc.oneof(
    { weight: 8, arbitrary: existing.length === 0 ? fitting : fc.constantFrom(...existing) },
    { weight: 1, arbitrary: fitting },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
  )
}

const pathOf = (document: OpenApi, pools: Pools, { operation }: PlacedOperation) =>
  fc.record(
    Object.fromEntries(
      operation.parameters
        .filter((parameter) => parameter.in === "path")
        .map((parameter) => [
          parameter.name,
          valueOf(document, pools, parameter).filter((made) => made !== ""),
        ]),
    ),
  )

const UNKNOWN = [["nobody_knows", "1"]] as const

const queryOf = (document: OpenApi, pools: Pools, { operation }: PlacedOperation) => {
  const pairs = operation.parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => {
      const pair = valueOf(document, pools, parameter).map((value) => [parameter.name, value] as const)
      const seldom = fc.oneof(
        { weight: 9, arbitrary: fc.array(pair, { minLength: 1, maxLength: 1 }) },
        {
          weight: 1,
          arbitrary: fc.array(fc.oneof(pair, fc.constant([parameter.name, ""] as const)), { maxLength: 2 }),
        },
      )
      return parameter.required
        ? seldom
        : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: seldom })
    })
  const unknown = fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant(UNKNOWN) },
  )
  return fc.tuple(...pairs, unknown).map((made) => made.flat())
}

interface Body {
  readonly text: string | Uint8Array | undefined
  readonly json: unknown
}

const asJson = (json: unknown): Body => ({ text: JSON.stringify(json), json })
const asText = (text: string | Uint8Array): Body => ({ text, json: undefined })

const bodyOf = (document: OpenApi, pools: Pools, { operation }: PlacedOperation): fc.Arbitrary<Body> => {
  const [media] = Object.values(operation.requestBody?.content ?? {})
  const odd = fc
    .oneof(fc.constantFrom(...NO_JSON), fc.uint8Array({ minLength: 1, maxLength: 40 }))
    .map(asText)
  if (media === undefined) {
    const none: Body = { text: undefined, json: undefined }
    return fc.oneof({ weight: 12, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: odd })
  }
  const fitting = arbitraryOf(document, pools)(media.schema)
  return fc.oneof(
    { weight: 12, arbitrary: fitting.map(asJson) },
    { weight: 5, arbitrary: mutated(fitting).map(asJson) },
    { weight: 2, arbitrary: odd },
  )
}

const WRONG = [
  undefined,
  "Bearer",
  "Basic YTpi",
  "Bearer  two  words",
  `Bearer ${"x".repeat(513)}`,
  "Bearer nobodys",
]

const authorizationOf = ({ operation }: PlacedOperation): fc.Arbitrary<string | undefined> => {
  const isForAgents = operation.security.some((requirement) => "agentKey" in requirement)
  const keys = Object.values(KEYS)
  const right = isForAgents
    ? [KEYS.accepted, KEYS.accepted, KEYS.rotating, KEYS.blocked, ...keys]
    : [UI_TOKEN]
  const others = isForAgents ? [UI_TOKEN, READ_TOKEN] : [READ_TOKEN, READ_TOKEN, KEYS.accepted]
  const bearer = (token: string) => `Bearer ${token}`
  return fc.oneof(
    { weight: 16, arbitrary: fc.constantFrom(...right).map(bearer) },
    { weight: 2, arbitrary: fc.constantFrom(...others).map(bearer) },
    { weight: 1, arbitrary: fc.constantFrom(...WRONG) },
  )
}

const HEADERS: ReadonlyArray<Readonly<Record<string, string>>> = [
  {},
  { "content-type": "application/json" },
  { "content-type": "application/json; charset=latin1" },
  { "content-type": "text/plain" },
  { "content-type": "multipart/form-data" },
  { "content-type": "application/x-www-form-urlencoded", accept: "application/xml" },
  { "x-request-id": "my:request-1", accept: "text/html" },
  { "x-request-id": "no id at all" },
]

/** A path with its parameters' values. */
export const escaped = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""))

/** Requests for an operation: within, at the limits of and outside the document. */
export const requests = (document: OpenApi, pools: Pools, placed: PlacedOperation): fc.Arbitrary<Generated> =>
  fc
    .record({
      path: pathOf(document, pools, placed),
      query: queryOf(document, pools, placed),
      body: bodyOf(document, pools, placed),
      authorization: authorizationOf(placed),
      headers: fc.constantFrom(...HEADERS),
      isHead: fc.nat(9).map((drawn) => placed.method === "GET" && drawn === 0),
    })
    .map(({ path, query, body, authorization, headers, isHead }) => {
      const search = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")
      return {
        placed,
        path,
        query,
        json: body.json,
        token: /^Bearer (\S{1,512})$/.exec(authorization ?? "")?.[1],
        method: isHead ? "HEAD" : placed.method,
        target: escaped(placed.path, path) + (search === "" ? "" : `?${search}`),
        headers: {
          ...requiredHeaders(placed.operation),
          ...headers,
          ...(authorization !== undefined && { authorization }),
        },
        body: body.text,
      }
    })
