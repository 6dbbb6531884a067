import { assert, describe, it } from "@effect/vitest"
import { CreateWatchRequest } from "@tocsin/contract/watches/Watches"
import { probesIn } from "@tocsin/contract/watches/WatchProbe"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect, Result, SchemaParser } from "effect"
import * as fc from "fast-check"
import { policyNotifiers } from "../../../src/rules.ts"
import { checkedSettings } from "../../../src/settings/checkedSettings.ts"
import { watchProbes } from "../../../src/features/watches/watchProbes.ts"

/** Mostly the first value, so that a watch has few odd ones. */
const values = <A>(usual: A, ...others: ReadonlyArray<A>): fc.Arbitrary<A> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...others) },
  )

const url = values<unknown>(
  "https://example.org/",
  "http://127.0.0.1:80/x",
  "HTTP://EXAMPLE.org",
  "https://me:secret@example.org/",
  "ftp://example.org",
  "https://",
  "http:///x",
  "https://exa mple.org/",
  "http://[::1]/",
  "http://[::1",
  "",
  "http://example.org:99999/",
  "http://example.org/\n",
  "https:\\\\me@example.org",
  "http://me@/",
  7,
  null,
)
const host = values<unknown>("example.org", "::1", "10.0.0.1", "a b", "", "-", "_x", "ex\u00e4mple", 5, null)
const port = values<unknown>(1, 443, 65_535, 0, 65_536, 1.5, "443", null)
const duration = values<unknown>("10s", "1m", "1d", "9s", "31d", "0s", "500ms", "soon", 5, null)
const days = values<unknown>({ warning: 14 }, { critical: 0 }, { warning: 1.5 }, { other: 1 }, {}, 7, null)
const some = <A>(values: Record<string, fc.Arbitrary<unknown>>, requiredKeys: Array<string> = []) =>
  fc.record(values, { requiredKeys }) as fc.Arbitrary<A>
const verify = values<unknown>(true, false, "yes")

const time = values<unknown>(
  { warning: "1s", critical: "3s" },
  { warning: "3s", critical: "1s" },
  { critical: 1 },
)
const wanted = values<unknown>("< 5", 5, null, "~ a*", "< x", "<5", "~", "", [], {}, "x".repeat(1_025))
const conditions = {
  status: values<unknown>(
    [200, "300-399"],
    ["399-300"],
    [99],
    ["x"],
    [],
    Array.from({ length: 21 }, () => 200),
  ),
  header: fc.dictionary(values("x-a", "a b", ""), wanted, { maxKeys: 2 }),
  text: values<unknown>("well", "", 7),
  not_text: values<unknown>("ill", "el"),
  json: fc.dictionary(values("/a/0", "", "a", "/~2"), wanted, { maxKeys: 2 }),
}
const expect = some({ ...conditions, warning: some(conditions), other: fc.constant(1) })

const probes = {
  http: some(
    {
      url,
      days,
      verify,
      timeout: duration,
      method: values("GET", "HEAD", "POST", "get"),
      status: values<unknown>([200], [], [99], [600], [200, 301], 200, ["200"]),
      text: values<unknown>("ok", "", "x".repeat(4_097), 7),
      expect,
      time,
      redirects: values(0, 20, 21, -1, 1.5),
    },
    ["url"],
  ),
  tcp: some({ host, port, timeout: duration, name: host }, ["host", "port"]),
  tls: some({ host, port, days, verify, timeout: duration, name: host }, ["host"]),
  dns: some({ name: host, type: values("A", "TXT", "ANY", "a"), timeout: duration }, ["name"]),
}

const watch = fc
  .record({
    name: values("home", "a b", "", "x".repeat(129), "@place"),
    rest: some<object>({
      every: duration,
      confirm: values<unknown>({ bad: 1 }, { bad: 0 }, { good: 11 }, {}, 1),
    }),
    probe: fc.oneof(
      ...Object.entries(probes).map(([kind, options]) => ({
        weight: 4,
        arbitrary: options.map((value): object => ({ [kind]: value })),
      })),
      { weight: 1, arbitrary: some<object>(probes) },
    ),
  })
  .map(({ name, probe, rest }) => ({ name, ...rest, ...probe }))

const decode = SchemaParser.decodeUnknownResult(CreateWatchRequest)

describe("a watch", () => {
  it.effect.each([
    { SERVICE_WATCH_LOOPBACK: "true" },
    { SERVICE_NOTIFIERS: "debug" },
    { SERVICE_DENY_PRIVATE_TARGETS: "true" },
  ])("is taken from a policy exactly where the API takes it, with %j", (environment) => {
    const settings = Result.getOrThrow(checkedSettings(environment))
    const { watchProblem } = policyNotifiers(settings)
    return Effect.gen(function* () {
      const { check } = (yield* WatchProbes) ?? assert.fail("no probes")
      const isTaken = (given: unknown): boolean => {
        const request = decode(given)
        if (Result.isFailure(request) || probesIn(request.success).length !== 1) return false
        return Result.isSuccess(Effect.runSync(Effect.result(check(request.success))))
      }
      const taken = { true: 0, false: 0 }
      fc.assert(
        fc.property(watch, (given) => {
          const byApi = isTaken(given)
          taken[`${byApi}`] += 1
          const read = readPolicy({ watches: [given] }, [], { watchProblem })
          assert.strictEqual(Result.isSuccess(read), byApi)
        }),
        { numRuns: propertyRuns(3_000) },
      )
      assert.isAbove(Math.min(taken.true, taken.false), 20)
    }).pipe(Effect.provide(watchProbes(settings)))
  })
})
