/** A request body or an answer as it may be on the wire, under a sentence that says when. */
export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** Examples of one body by names that are valid in a component's key. */
export type Examples = Readonly<Record<string, Example>>

/** Examples of an operation's requests and answers. */
export interface OperationExamples {
  /** Of parameters that are not in {@link pathParameters}. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly request?: Examples
  readonly success: Examples
  /** The answers of one status, where an operation has several. */
  readonly byStatus?: Readonly<Record<number, Examples>>
}

/** The answer of an action. */
export const counted = (summary: string, count: number): OperationExamples => ({
  success: { done: { summary, value: { count } } },
})

/** A list with one item. */
export const lastPage = (item: object, summary = "The only page"): OperationExamples => ({
  success: { page: { summary, value: { items: [item], next_cursor: null, prev_cursor: null } } },
})
