import { errorStatus } from "@tocsin/contract/formats/Errors"
import { requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import type { Protocol } from "@tocsin/core/features/integrations/Kind"
import { KINDS } from "@tocsin/core/features/integrations/kinds"
import type { SenderRequest } from "@tocsin/core/features/integrations/Report"
import { isTokenOf } from "@tocsin/core/heart/operators/tokens"
import type { TakenRequest } from "@tocsin/core/features/integrations/senderCalls"
import { Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import {
  fieldsIn,
  parseEnvelope,
  parseForm,
  parseSenderText,
  parseXmlText,
} from "../../request/RequestBody.ts"
import { errorFields, type Failure } from "../../response/failures.ts"
import { pathOf } from "../../routes.ts"

export interface SenderAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

export const answerOf = (
  { contentType, fields, say, statuses = {} }: Protocol,
  request: SenderRequest,
  failure?: Failure,
  taken?: TakenRequest,
): SenderAnswer => {
  const body = taken?.answer?.body ?? say(failure, taken?.ignored ?? "", request)
  const status = failure && (statuses[failure.code] ?? errorStatus[failure.code])
  return {
    status: status ?? taken?.answer?.status ?? 200,
    body,
    fields: {
      "cache-control": "no-store",
      ...(failure !== undefined && errorFields(failure)),
      ...fields,
      ...(body !== "" && {
        "content-type": typeof contentType === "string" ? contentType : contentType(request),
      }),
      "content-length": String(Buffer.byteLength(body)),
    },
  }
}

export const PARSERS = {
  whole: parseSenderText,
  form: parseForm,
  envelope: parseEnvelope,
  xml: parseXmlText,
} as const

/** A request with its body, or with as much of it as was read. */
export const withBody = (
  { body: form }: Pick<Protocol, "body">,
  given: Omit<SenderRequest, "body">,
  body: string,
): SenderRequest =>
  form === "form" ? { ...given, query: [...given.query, ...fieldsIn(body)], body: "" } : { ...given, body }

export const responseOf = ({ body, fields: headers, status }: SenderAnswer) =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] })

/** The answer to a sender whose path or method no route has; `undefined` for other paths. */
export const unroutedAnswer = (url: string, failure: Failure): SenderAnswer | undefined => {
  const [, root, named] = pathOf(url).split("/")
  const kind = requestKindNames.find((each) => root === "in" && each === named)
  if (kind === undefined) return undefined
  return answerOf(
    KINDS[kind].protocol,
    { method: "", path: [], query: queryOf(url), body: "" },
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
  return fieldsIn(url.slice(start + 1).replaceAll(SECOND_QUERY, "&"))
}

/** Whether requests by a method have a body that matters. */
export const hasBody = (method: string): boolean => method !== "GET" && method !== "HEAD"

/** A sender's request before its key is recognised and its body is read. */
export interface Addressed extends Omit<SenderRequest, "body"> {
  /** Absent if only the body can have it. */
  readonly key: Redacted.Redacted | undefined
}

/** The key of a request, and what it is about. A slash at the end of its path means nothing. */
export const addressed = (
  {
    authorization,
    method,
    url,
  }: Readonly<Record<"method" | "url", string>> & { readonly authorization: string | undefined },
  { hasHeader, keyOf }: Pick<Protocol, "hasHeader" | "keyOf">,
): Addressed => {
  const [, , , ...segments] = pathOf(url).split("/")
  const path = segments.at(-1) === "" ? segments.slice(0, -1) : segments
  const [first = "", ...rest] = path
  const query = queryOf(url)
  const elsewhere = hasHeader ? keyOfHeader(authorization) : keyOf?.({ query, body: "" })
  const mayBeElsewhere = elsewhere !== undefined || (keyOf !== undefined && hasBody(method))
  const key = Redacted.make(first)
  // A key in the path counts alone: a proxy may have added a header.
  const isInPath = !mayBeElsewhere || isTokenOf("integration", key)
  const known = elsewhere === undefined ? undefined : Redacted.make(elsewhere)
  return {
    key: isInPath ? key : known,
    method,
    path: (isInPath ? rest : path).map(decodeURIComponent),
    query,
  }
}
