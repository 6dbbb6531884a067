import { assert } from "@effect/vitest"
import type { Answer } from "../../client/Answer.ts"

/** Requires an answer's parts that are given here: status, then fields of its body. */
export const expectBody = (answer: Answer, status: number, body: object): void => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.deepInclude(answer.body, body)
}

/** Asserts status and code of an error, such as `409 conflict`. */
export const expectCode = (answer: Answer, expected: string): void =>
  assert.strictEqual(`${answer.status} ${/"code":"(\w+)"/.exec(answer.text)?.[1]}`, expected)
