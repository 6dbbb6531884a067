import type { TestRunner } from "tocsin/testing"

type Tests = ReadonlyMap<string, () => Promise<void>>

/** The tests that a suite describes, by name. */
export const testsOf = (suite: (runner: TestRunner) => void): Tests => {
  const tests = new Map<string, () => Promise<void>>()
  suite({ describe: (_, body) => body(), it: (name, body) => tests.set(name, body) })
  return tests
}

/** The failure of the test whose name begins with a text; `undefined` if it passes. */
export const failureOf = (tests: Tests, start: string): Promise<unknown> => {
  const [test] = Array.from(tests).flatMap(([name, body]) => (name.startsWith(start) ? [body] : []))
  if (test === undefined) throw new Error(`there is no test ${start}`)
  return test().then(
    () => undefined,
    (error: unknown) => error,
  )
}
