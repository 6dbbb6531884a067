import { Effect } from "effect"
import type { Answer } from "../http/client/Answer.ts"
import { AnswerRules } from "./AnswerRules.ts"
import type { OpenApi } from "./OpenApi.ts"
import { RequestRules } from "./RequestRules.ts"
import type { Generated } from "./requests.ts"
import { DocumentedServer } from "./DocumentedServer.ts"

/** Where a service serves its documents. */
export const DOCUMENTS = { v1: "/openapi.json", operations: "/ops/v1/openapi.json" }

/**
 * Rules that the document states only in words: characters of texts, the query of a cursor,
 * matchers, durations and moments within limits, and which terms of an expected check go together.
 */
const isBeyondSchemas = ({ body, headers, placed, query }: Generated): boolean =>
  // Any text fits the document, and any object, but few are policies and receivers.
  ["applyPolicy", "patchPolicy", "putReceiver", "tryPolicy", "tryReceiver"].includes(
    placed.operation.operationId,
  ) ||
  // A watch is one probe, with an address.
  ["tryWatch", "createWatch", "changeWatch"].includes(placed.operation.operationId) ||
  // A span ends by now, and its matchers have fields and operators.
  ["exportRows", "listAvailability", "readNumbers", "readReport"].includes(placed.operation.operationId) ||
  // A browser's address is one of known push services, and its keys are of a curve.
  placed.operation.operationId === "createSubscription" ||
  // An announcement names a page of the policy, and its lines.
  placed.operation.operationId === "createAnnouncement" ||
  // The turns of a rota have an order and a length, and an override names receivers of the policy.
  ["getRota", "createOverride"].includes(placed.operation.operationId) ||
  // Each kind of integration has its options.
  /^(?:(?:create|change)Integration|tryMail)$/.test(placed.operation.operationId) ||
  query.some(([name]) => name === "cursor") ||
  // Header fields are no part of a generated request.
  headers["idempotency-key"] === "a b" ||
  /\\u0000|\\ud800|"(?:checks|ends_at|expires_at|expires_in|for|matchers|starts_at|grace|until)":/.test(
    String(body),
  )

/** The message of an error answer; `undefined` for another answer. */
export const messageOf = (body: unknown): string | undefined => {
  const { error } = Object(body) as { readonly error?: { readonly message?: string } }
  return error?.message
}

/** Judges answers by a document alone. */
export class Judge {
  readonly document: OpenApi
  readonly answers: AnswerRules
  readonly #requests: RequestRules

  constructor(document: OpenApi) {
    this.document = document
    this.answers = new AnswerRules(document)
    this.#requests = new RequestRules(document)
  }

  /** Judges by a document as a service serves it. */
  static readonly of = Effect.fnUntraced(function* (target: string) {
    const { call } = yield* DocumentedServer
    const { text } = yield* call({ method: "GET", target, headers: {} })
    return new Judge(JSON.parse(text))
  })

  /** The messages of the errors that the document shows. */
  get messages(): ReadonlyArray<string> {
    const shown = Object.values(this.document.components.responses)
      .flatMap(({ content = {} }) => Object.values(content))
      .flatMap(({ examples = {} }) => Object.values(examples))
    return shown.flatMap(({ value }) => messageOf(value) ?? [])
  }

  /** The faults of an answer to a generated request; empty if it is as documented. */
  problemsOf(request: Generated, answer: Answer): ReadonlyArray<string> {
    const told = this.answers.problemsOf(request.placed.operation, answer, request.method)
    const broken = this.#brokenPromise(request, answer.status)
    return broken === undefined ? told : [...told, broken]
  }

  #brokenPromise(request: Generated, status: number): string | undefined {
    const isTaken = status < 400
    if (status === 500) return "the service failed"
    if (!this.#requests.isAllowed(request)) return isTaken ? "its token allows no such thing" : undefined
    if (!this.#requests.fits(request)) return isTaken ? "it is outside the document and was taken" : undefined
    return status === 400 && !isBeyondSchemas(request) ? "it fits the document and was refused" : undefined
  }
}
