import { assert, describe, it } from "@effect/vitest"
import { IntegrationName, type IntegrationWithKey } from "../../src/integrations/Integrations.ts"
import { CheckId } from "../../src/formats/Identifiers.ts"
import * as Instant from "../../src/formats/Instant.ts"
import { senderLines } from "../../src/integrations/senderLines.ts"

const KEY = "in_key"
const made = (
  kind: IntegrationWithKey["kind"],
  urls: ReadonlyArray<string>,
  options: IntegrationWithKey["options"] = {},
): IntegrationWithKey => ({
  name: IntegrationName.make("job"),
  title: null,
  kind,
  options,
  created_at: Instant.fromMillis(0),
  created_by: "ann",
  is_closed: false,
  last_request_at: null,
  last_refusal: null,
  sources: [],
  checks: 0,
  max_checks: 1_000,
  overdue: 0,
  awaited_watchdog: null,
  key: KEY,
  urls,
})
const job = { check: CheckId.make("job") }
const ORIGIN = "https://tocsin.example.org"
const textsOf = (...given: Parameters<typeof senderLines>) => senderLines(...given).map(([, text]) => text)

describe("the lines to paste into a sender", () => {
  it("of a job report how it ended, first of all, with a schedule and without", () => {
    const ping = made("ping", [`/in/ping/${KEY}`, `/in/ping/${KEY}/fail`], job)
    const curl = "; curl -fsS -m 10 --retry 3 -o /dev/null"
    const address = `${ORIGIN}/in/ping/${KEY}`
    assert.deepStrictEqual(textsOf(ping, ORIGIN), [`${curl} "${address}/$?"`, address, `${address}/fail`])
    const expected = { ...ping, options: { ...job, schedule: "every=1d" } }
    assert.strictEqual(textsOf(expected, ORIGIN)[0], `${curl} "${address}/$??every=1d"`)
    const posted = { ...ping, options: { ...job, methods: ["POST"] } as const }
    assert.strictEqual(textsOf(posted, ORIGIN)[0], `${curl} -X POST "${address}/$?"`)
    const named = made("ping", [`https://other.example.org/in/ping/${KEY}/CHECK`])
    assert.strictEqual(
      textsOf(named, ORIGIN)[0],
      `${curl} "https://other.example.org/in/ping/${KEY}/CHECK/$?"`,
    )
  })

  it("of a Prometheus are those of its files, and of others the addresses and the key", () => {
    const urls = (kind: string) => [`/in/${kind}`, `/in/${kind}/${KEY}`]
    const [file = "", rules = "", ...others] = textsOf(made("alertmanager", urls("alertmanager")), ORIGIN)
    for (const part of ["scheme: https\n", "/in/alertmanager\n", KEY, '"tocsin.example.org"'])
      assert.include(file, part)
    assert.include(rules, "alert: Watchdog")
    assert.deepStrictEqual(others, [...urls("alertmanager").map((url) => `${ORIGIN}${url}`), KEY])
    assert.deepStrictEqual(textsOf(made("webhook", urls("webhook")), ORIGIN), [
      ...urls("webhook").map((url) => `${ORIGIN}${url}`),
      KEY,
    ])
    const push = made("push", [`/in/push/${KEY}?status=up&msg=OK&ping=`], job)
    assert.deepStrictEqual(textsOf(push, ORIGIN), [`${ORIGIN}/in/push/${KEY}?status=up&msg=OK&ping=`])
  })
})
