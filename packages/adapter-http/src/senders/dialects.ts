import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import { errorStatus } from "@tocsin/contract/Errors"
import { IntegrationKind } from "@tocsin/contract/Integrations"
import type { SenderRequest } from "@tocsin/core/integrations/Report"
import { isTokenOf } from "@tocsin/core/operators/tokens"
import { type Effect, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { MOST_OF_START, readStart, readSenderText } from "../request/RequestBody.ts"
import { errorFields, type Failure } from "../response/failures.ts"
import { pathOf } from "../routes.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The methods of a kind of integration, where its key is, and its senders' language for an outcome. */
export interface Dialect {
  readonly methods: ReadonlyArray<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">
  /** The body as text: the start of any text, or a whole one of at most 1 MiB. */
  readonly read: (request: Request) => Effect.Effect<string, PayloadTooLarge | Validation>
  /** How much of a longer body is read. */
  readonly mostBytes: number
  /** Whether the header Authorization may have the key, instead of the path. */
  readonly hasHeader: boolean
  readonly contentType: "application/json" | "text/plain"
  readonly fields?: Readonly<Record<string, string>>
  /** Its text about a failure, or about none and what was ignored. */
  readonly say: (failure: Failure | undefined, ignored: string) => string
}

/** An answer to a sender, with the header fields that belong to it. */
export interface SenderAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

export const answerOf = (
  { contentType, fields, say }: Dialect,
  failure?: Failure,
  ignored = "",
): SenderAnswer => {
  const body = say(failure, ignored)
  return {
    status: failure === undefined ? 200 : errorStatus[failure.code],
    body,
    fields: {
      "cache-control": "no-store",
      ...(failure !== undefined && errorFields(failure)),
      ...fields,
      ...(body !== "" && { "content-type": contentType }),
      "content-length": String(Buffer.byteLength(body)),
    },
  }
}

/** Senders of any text: it is the output of a job. */
const anyText = {
  read: readStart,
  mostBytes: MOST_OF_START,
  hasHeader: false,
} as const

/** Senders of JSON: they log the status, and at most the text. */
const json: Dialect = {
  methods: ["POST"],
  read: readSenderText,
  // It is refused.
  mostBytes: Number.POSITIVE_INFINITY,
  hasHeader: true,
  contentType: "text/plain",
  say: (failure) => failure?.message ?? "",
}

export const DIALECTS: Readonly<Record<IntegrationKind, Dialect>> = {
  alertmanager: json,
  webhook: json,
  ping: {
    ...anyText,
    methods: ["GET", "POST"],
    contentType: "text/plain",
    fields: { "ping-body-limit": "8192" },
    say: (failure, ignored) => failure?.message ?? (ignored === "" ? "OK" : `OK\n${ignored}`),
  },
  push: {
    ...anyText,
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    contentType: "application/json",
    say: (failure) =>
      JSON.stringify(failure === undefined ? { ok: true } : { ok: false, msg: failure.message }),
  },
}

export const responseOf = ({ body, fields: headers, status }: SenderAnswer) =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] })

/** The answer to a sender whose path or method no route has; `undefined` for other paths. */
export const unroutedAnswer = (url: string, failure: Failure): SenderAnswer | undefined => {
  const [, root, named] = pathOf(url).split("/")
  const kind = IntegrationKind.literals.find((each) => root === "in" && each === named)
  if (kind === undefined) return undefined
  return answerOf(
    DIALECTS[kind],
    failure.headers === undefined ? { ...failure, message: "not found" } : failure,
  )
}

/** The key that a header Authorization has: as a bearer token, or as the password. */
const keyOfHeader = (authorization = ""): string | undefined => {
  const [, scheme = "", credentials = ""] = /^(Bearer|Basic) +([^ ]+) *$/iu.exec(authorization) ?? []
  if (scheme.toLowerCase() !== "basic") return credentials === "" ? undefined : credentials
  const text = Buffer.from(credentials, "base64").toString()
  return text.slice(text.indexOf(":") + 1)
}

/** A second query, as where one is added to an address that has one. */
const SECOND_QUERY = /\?(?=(?:status|msg|ping|every|cron|rid)=)/gu

const NO_QUERY: SenderRequest["query"] = []

const queryOf = (url: string): SenderRequest["query"] => {
  const start = url.indexOf("?")
  if (start === -1) return NO_QUERY
  return Array.from(new URLSearchParams(url.slice(start + 1).replaceAll(SECOND_QUERY, "&")))
}

/** A sender's request before its key is recognised and its body is read. */
export interface Addressed extends Omit<SenderRequest, "body"> {
  readonly key: Redacted.Redacted
}

/** The key of a request, and what it is about. A slash at the end of its path means nothing. */
export const addressed = (
  {
    authorization,
    method,
    url,
  }: Readonly<Record<"method" | "url", string>> & { readonly authorization: string | undefined },
  { hasHeader }: Dialect,
): Addressed => {
  const [, , , ...segments] = pathOf(url).split("/")
  const path = segments.at(-1) === "" ? segments.slice(0, -1) : segments
  const [first = "", ...rest] = path
  const inHeader = hasHeader ? keyOfHeader(authorization) : undefined
  const key = Redacted.make(first)
  // A key in the path counts alone: a proxy may have added a header.
  const isInPath = inHeader === undefined || isTokenOf("integration", key)
  return {
    key: isInPath ? key : Redacted.make(inHeader),
    method,
    path: (isInPath ? rest : path).map(decodeURIComponent),
    query: queryOf(url),
  }
}
