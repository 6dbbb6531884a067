import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { allCases, type BenchCase } from "../src/cases.ts"
import { readOptions } from "../src/options.ts"
import { comparison } from "../src/report/compare.ts"
import { measurements, targets } from "../src/report/print.ts"
import { Results } from "../src/report/Results.ts"
import { runBench } from "../src/runBench.ts"

const CONNECTIONS = 4

// A dozen processes are started, on a machine that may have other work.
const PATIENCE_MILLIS = 120_000

/** The cases as they are, with few connections and therefore few agents. */
const smaller = (one: BenchCase): BenchCase =>
  "connections" in one ? { ...one, connections: CONNECTIONS } : one

const readOrFail = (...args: ReadonlyArray<string>) => {
  const options = readOptions(args, assert.fail)
  return options ?? assert.fail("the command line asks for nothing")
}

const options = {
  ...readOrFail("memory-heartbeats", "memory-changing", "memory-idle"),
  measures: {
    agents: CONNECTIONS,
    warmUpSeconds: 0.05,
    // A busy machine answers none in a fifth of it.
    seconds: 1,
    repeats: 1,
    settleSeconds: 0.05,
    soakSeconds: 0.6,
  },
}

describe("the harness on memory", () => {
  it.live(
    "measures each case, and its servers answer as the case says",
    () =>
      Effect.gen(function* () {
        const reported: Array<string> = []
        const cases = options.cases.map(smaller)
        const results = yield* runBench({ ...options, cases }, (text) =>
          Effect.sync(() => void reported.push(text)),
        )

        assert.deepStrictEqual(
          results.cases.map(({ name, failure }) => ({ name, failure })),
          cases.map(({ name }) => ({ name, failure: undefined })),
        )
        assert.lengthOf(reported, 2 * cases.length)
        for (const one of results.cases) {
          for (const { name, samples } of one.series) {
            assert.lengthOf(samples, 1, `${one.name}, ${name}`)
            for (const { perSecond } of samples) assert.isAbove(perSecond, 0, `${one.name}, ${name}`)
          }
          for (const { name, value } of one.figures) assert.isAbove(value, 0, `${one.name}, ${name}`)
        }
        const written = JSON.stringify(results)
        assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.fromJsonString(Results))(written), results)
        assert.include(measurements(results.cases), "memory-changing")
        assert.match(targets(results.cases), /memory-heartbeats +× raw .* ≥ 0\.9 +(reached|missed)/)
        assert.match(comparison(results, results), /memory-heartbeats +× raw .* × 1\.00/)
      }).pipe(Effect.scoped),
    PATIENCE_MILLIS,
  )
})

describe("the command line", () => {
  it("takes names of cases, storages and kinds of work", () => {
    const chosen = (...args: ReadonlyArray<string>) => readOrFail(...args).cases.map(({ name }) => name)
    assert.deepStrictEqual(chosen("sqlite-heartbeats"), ["sqlite-heartbeats"])
    assert.deepStrictEqual(chosen("unchanged"), [
      "memory-unchanged",
      "sqlite-unchanged",
      "postgres-unchanged",
    ])
    assert.deepStrictEqual(
      chosen("sqlite"),
      allCases.filter(({ storage }) => storage === "sqlite").map(({ name }) => name),
    )
    assert.lengthOf(chosen(), allCases.length)
  })

  it("refuses what it does not know", () => {
    assert.throws(() => readOrFail("mysql"), "no case is called mysql")
    assert.throws(() => readOrFail("--seconds", "0"), "--seconds takes a number above 0")
    assert.throws(() => readOrFail("--agents", "3"), "--agents must be at least 64")
    assert.throws(() => readOrFail("--server", "docs"), "docs holds no server")
  })
})
