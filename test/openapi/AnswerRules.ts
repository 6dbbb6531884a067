import type { Answer } from "../http/client/Answer.ts"
import { type Header, type OpenApi, type Operation, type Response, resolved } from "./OpenApi.ts"
import { Schemas } from "./Schemas.ts"

/**
 * Headers that HTTP and browsers need and no client of an API reads: of messages and connections
 * (RFC 9110, 9112), and the protections that every answer to a browser has. Anything else is to be
 * in the document.
 */
const OF_MESSAGES = [
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]
const OF_BROWSERS = ["content-security-policy", "cross-origin-resource-policy", "referrer-policy", "vary"]
const OF_PROXIES = ["x-accel-buffering"]
const GENERAL = new Set([...OF_MESSAGES, ...OF_BROWSERS, ...OF_PROXIES, "x-content-type-options"])

const typed = ({ schema }: Header, text: string): unknown =>
  schema.type === "integer" && /^(0|[1-9]\d*)$/.test(text) ? Number(text) : text

/** Holds answers against a document. */
export class AnswerRules {
  readonly #document: OpenApi
  readonly #schemas: Schemas

  constructor(document: OpenApi) {
    this.#document = document
    this.#schemas = new Schemas(document)
  }

  /**
   * The parts of an answer that the operation does not declare; empty if it declares all of them.
   */
  problemsOf({ responses }: Operation, answer: Answer, method = "GET"): ReadonlyArray<string> {
    const declared = responses[answer.status]
    if (declared === undefined) return [`status ${answer.status} is not declared`]
    const response = resolved<Response>(this.#document, declared)
    return [...this.#ofHeaders(response, answer), ...this.#ofBody(response, answer, method)]
  }

  #ofHeaders({ headers = {} }: Response, answer: Answer): ReadonlyArray<string> {
    const declared = Object.entries(headers).map(
      ([name, header]) => [name.toLowerCase(), resolved<Header>(this.#document, header)] as const,
    )
    const names = new Set(declared.map(([name]) => name))
    const undeclared = Object.keys(answer.headers).filter((name) => !names.has(name) && !GENERAL.has(name))
    return [
      ...undeclared.map((name) => `header ${name} is not declared`),
      ...declared.flatMap(([name, header]) => this.#ofHeader(name, header, answer)),
    ]
  }

  #ofHeader(name: string, header: Header, { headers }: Answer): ReadonlyArray<string> {
    const text = headers[name]
    if (text === undefined) return header.required === true ? [`header ${name} is missing`] : []
    const problems = this.#schemas.problemsOf(header.schema, typed(header, String(text)))
    return problems.map((problem) => `header ${name}: ${problem}`)
  }

  #ofBody({ content = {} }: Response, answer: Answer, method: string): ReadonlyArray<string> {
    if (method === "HEAD") return answer.text === "" ? [] : ["HEAD is answered with a body"]
    const type = String(answer.headers["content-type"]).split(";")[0] ?? ""
    const media = content[type]
    if (media === undefined) return [`media type ${type} is not declared`]
    const body = type === "application/json" ? answer.body : answer.text
    const problems = this.#schemas.problemsOf(media.schema, body)
    return problems.map((problem) => `body: ${problem}`)
  }
}
