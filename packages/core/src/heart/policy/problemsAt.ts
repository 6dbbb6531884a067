import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"

export type Problems = ReadonlyArray<FieldProblem>

/** Problems of a part, at its place in the whole. */
export const at = (problems: FieldProblem | Problems, ...prefix: ReadonlyArray<PropertyKey>): Problems =>
  [problems].flat().map(({ message, path }) => ({ message, path: [...prefix, ...path] }))

export const problem = (message: string, ...path: ReadonlyArray<PropertyKey>): FieldProblem => ({
  message,
  path,
})

/** A problem of a part that is faulty. */
export const problemIf = (
  isFaulty: boolean,
  message: string,
  ...path: ReadonlyArray<PropertyKey>
): Problems => (isFaulty ? [problem(message, ...path)] : [])
