/** The functions of a test runner: vitest, node:test or another. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown
  /** A runner that limits the time of tests takes the limit last; node:test has none. */
  readonly it: (name: string, body: () => Promise<void>, timeoutMillis: number) => unknown
}
