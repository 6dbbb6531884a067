import { errorStatus } from "@tocsin/contract/Errors"
import { IntegrationKind } from "@tocsin/contract/Integrations"
import type { Protocol } from "@tocsin/core/integrations/Kind"
import { KINDS } from "@tocsin/core/integrations/kinds"
import type { SenderRequest } from "@tocsin/core/integrations/Report"
import { isTokenOf } from "@tocsin/core/operators/tokens"
import type { TakenRequest } from "@tocsin/core/usecases/Integrations"
import { Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { MOST_OF_START, readStart, readSenderText } from "../request/RequestBody.ts"
import { errorFields, type Failure } from "../response/failures.ts"
import { pathOf } from "../routes.ts"

/** An answer to a sender, with the header fields that belong to it. */
export interface SenderAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

export const answerOf = (
  { contentType, fields, say }: Protocol,
  failure?: Failure,
  taken?: TakenRequest,
): SenderAnswer => {
  const body = taken?.answer?.body ?? say(failure, taken?.ignored ?? "")
  return {
    status: failure === undefined ? (taken?.answer?.status ?? 200) : errorStatus[failure.code],
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

/** Reads a body as senders of a kind send it, and states how much of a longer one is read. */
export const BODIES = {
  start: { read: readStart, mostBytes: MOST_OF_START },
  // A longer one is refused.
  whole: { read: readSenderText, mostBytes: Number.POSITIVE_INFINITY },
} as const

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
    KINDS[kind].protocol,
    failure.headers === undefined ? { ...failure, message: "not found" } : failure,
  )
}

/** The key that a header Authorization has: as a bearer token, or as the password. */
const keyOfHeader = (authorization = ""): string | undefined => {
  const [, scheme = "", credentials = ""] = /^(Bearer|Basic|GenieKey) +([^ ]+) *$/iu.exec(authorization) ?? []
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
  { hasHeader }: Protocol,
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
