/** Summaries and descriptions of operations, by their tags and the names of their endpoints. */
export type OperationTexts = Readonly<
  Record<string, Readonly<Record<string, readonly [summary: string, description: string]>>>
>

/** The tag and the texts of an operation. */
export const textsOf = (operationId: string, operations: OperationTexts) => {
  for (const [tag, texts] of Object.entries(operations)) {
    const found = texts[operationId]
    if (found !== undefined) return { tags: [tag], summary: found[0], description: found[1] }
  }
  throw new Error(`describe ${operationId} in documents/v1Texts.ts or documents/opsTexts.ts`)
}
