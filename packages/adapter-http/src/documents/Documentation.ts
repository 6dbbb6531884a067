import type { ErrorCode } from "@tocsin/core/contract/Errors"

/** A JSON object, of which nothing more is known. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A request body or an answer as it may be on the wire, under a sentence that says when. */
export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** Examples of one body by names that are valid in a component's key. */
export type Examples = Readonly<Record<string, Example>>

/** What a document says of a parameter. */
export interface ParameterText {
  readonly description: string
  readonly example?: string
}

/** What a document says of an operation beyond its definition. */
export interface OperationText {
  /** The name of one of the document's tags. */
  readonly tag: string
  readonly description: string
  /** Its parameters as far as they are not {@link sharedParameters}. */
  readonly parameters?: Readonly<Record<string, ParameterText>>
  readonly request?: Examples
  readonly success: Examples
}

/** Sentences of errors by their codes. */
export type ErrorMessages = Readonly<Partial<Record<ErrorCode, string>>>

/** What a document says beyond the definition of its API. */
export interface Documentation {
  readonly title: string
  readonly summary: string
  /** How to use the API, in CommonMark. */
  readonly description: string
  /** Where the paths begin, relative to where the document is served: it may be mounted anywhere. */
  readonly server: string
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  /** By the names of the definition's endpoints. */
  readonly operations: Readonly<Record<string, OperationText>>
  /** When a status of an error is answered, by the name of its response, where the error itself says it too narrowly. */
  readonly responses: Readonly<Record<string, string>>
  /** What its errors say for example, where that is not the usual. */
  readonly messages: ErrorMessages
}
