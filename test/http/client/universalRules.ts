import type { Answer, Asked } from "./Answer.ts"
import { failure, problemsOf } from "../contract/shapes.ts"

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The codes that each status may have (docs/rules.md#errors). */
const codesOf: Readonly<Record<number, ReadonlyArray<string>>> = {
  400: ["validation"],
  401: ["unauthorized"],
  403: ["agent_blocked", "agent_not_accepted", "forbidden"],
  404: ["not_found"],
  409: ["conflict"],
  412: ["conflict"],
  413: ["payload_too_large"],
  429: ["rate_limited"],
  500: ["internal"],
  503: ["not_ready"],
}

const whenFalse = (holds: boolean, problem: string): ReadonlyArray<string> => (holds ? [] : [problem])

const ofRequestId = (answer: Answer, { requestId }: Asked): ReadonlyArray<string> => {
  const ids = answer.rawHeaders.filter(
    (_, index) => answer.rawHeaders[index - 1]?.toLowerCase() === "x-request-id",
  )
  const [id = ""] = ids
  const expected = requestId !== undefined && REQUEST_ID.test(requestId) ? id === requestId : UUID_V7.test(id)
  return [
    ...whenFalse(ids.length === 1, `there are ${ids.length} headers X-Request-Id`),
    ...whenFalse(expected, `X-Request-Id is ${id}`),
  ]
}

const ofError = (answer: Answer): ReadonlyArray<string> => {
  const problems = problemsOf(failure, answer.body)
  if (problems.length > 0) return problems
  // Its shape has just been checked.
  const { error } = answer.body as { readonly error: { code: string; message: string; request_id: string } }
  const codes = codesOf[answer.status] ?? []
  return [
    ...whenFalse(codes.includes(error.code), `status ${answer.status} with code ${error.code}`),
    ...whenFalse(error.request_id === answer.headers["x-request-id"], `request_id is ${error.request_id}`),
    ...whenFalse(/^\S[^\r\n]{3,999}$/.test(error.message), `message is ${JSON.stringify(error.message)}`),
    ...whenFalse(
      answer.status !== 401 || /^Bearer\b/.test(answer.headers["www-authenticate"] ?? ""),
      "401 without WWW-Authenticate (RFC 9110, 15.5.2)",
    ),
    ...whenFalse(
      answer.status !== 429 || /^[1-9]\d*$/.test(answer.headers["retry-after"] ?? ""),
      `429 with Retry-After ${answer.headers["retry-after"]}`,
    ),
  ]
}

/** The rules of all answers that an answer breaks (docs/rules.md#http). */
export const brokenRules = (answer: Answer, asked: Asked): ReadonlyArray<string> => {
  const { headers, status } = answer
  const isApi = asked.path.startsWith("/api/v1/")
  // Senders that do not speak the API, readers of messages and public pages, and scrapes are answered in their own language.
  const isSenders = ["/in/", "/a/", "/on-call/", "/status/", "/metrics"].some((start) =>
    asked.path.startsWith(start),
  )
  const isUnchanged = status === 304
  const hasBody = asked.method !== "HEAD" && !isUnchanged
  return [
    ...ofRequestId(answer, asked),
    ...whenFalse(
      !isApi || headers["cache-control"] === "no-store",
      `Cache-Control is ${headers["cache-control"]}`,
    ),
    ...whenFalse(
      isSenders ||
        isUnchanged ||
        /^(?:application\/(?:json|x-ndjson)|text\/event-stream)(?:;|$)/.test(headers["content-type"] ?? ""),
      `Content-Type is ${headers["content-type"]}`,
    ),
    ...whenFalse(
      hasBody === (answer.text !== "") || (isSenders && [200, 204, 304].includes(status)),
      hasBody ? "there is no body" : "HEAD was answered with a body",
    ),
    ...(hasBody && status >= 400 && !isSenders ? ofError(answer) : []),
  ]
}
