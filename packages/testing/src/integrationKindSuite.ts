import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { IntegrationName } from "@tocsin/contract/integrations/Integrations"
import { logReasons } from "@tocsin/core/features/integrations/onlyLogs"
import { Subscriptions } from "@tocsin/core/features/integrations/Subscriptions"
import { explainOperations } from "@tocsin/core/heart/usecases/explainCheck"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sweeps } from "./alertSender.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const CRON = IntegrationName.make("cron")

const ADDRESS = "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=a"

/** Amazon SNS sends nothing before the address in its first message was opened. */
const confirmsSubscriptions = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const opened: Array<string> = []
  let problem: string | undefined = "It answered 403."
  const confirm = (address: string) => Effect.sync(() => (opened.push(address), problem))
  const replica = yield* Effect.provideService(openReplica(subject), Subscriptions, { confirm })
  const { key } = yield* replica.integrations.create({ name: CRON, kind: "webhook" })
  const sender = yield* replica.integrations.recognise(Redacted.make(key))
  const body = JSON.stringify({
    Type: "SubscriptionConfirmation",
    TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
    Message: "You have chosen to subscribe",
    SubscribeURL: ADDRESS,
  })
  const asks = outcomeOf(
    Effect.as(
      replica.integrations.report("webhook", sender, { method: "POST", path: [], query: [], body }),
      "taken",
    ),
  )
  assert.strictEqual(yield* asks, "RateLimited")
  problem = undefined
  assert.strictEqual(yield* asks, "taken")
  assert.deepStrictEqual(opened, [ADDRESS, ADDRESS])
})

/** Monit posts each service in each cycle: the words are in the event alone. */
const keepsWords = Effect.fnUntraced(function* (replica: Replica) {
  const { key } = yield* replica.integrations.create({ name: CRON, kind: "monit" })
  const sender = yield* replica.integrations.recognise(Redacted.make(key))
  const posts = Effect.fnUntraced(function* (status: number, message?: string) {
    const event =
      message === undefined
        ? ""
        : `<event><service>web</service><message><![CDATA[${message}]]></message></event>`
    const body = `<monit><server><poll>60</poll><localhostname>db1</localhostname></server><services><service name="web"><type>4</type><status>${status}</status><status_hint>0</status_hint><monitor>1</monitor></service></services>${event}</monit>`
    yield* replica.integrations.report("monit", sender, {
      method: "POST",
      path: ["collector"],
      query: [],
      body,
    })
    yield* TestClock.adjust("1 minute")
    const check = yield* replica.storage.check(CRON, CheckId.make("db1:web"))
    return `${check?.status} ${check?.summary ?? ""}`
  })
  assert.strictEqual(yield* posts(32), "critical failed: connection")
  assert.strictEqual(yield* posts(32, "Connection refused"), "critical Connection refused")
  assert.strictEqual(yield* posts(32), "critical Connection refused")
  assert.strictEqual(yield* posts(0), "ok ")
  assert.strictEqual(yield* posts(32), "critical failed: connection")
})

const compiled = compilePolicy({}, [])
const NO_POLICY = { current: () => compiled }

/** A check without a result, whose sender only sends logs. */
const explainsLogs = Effect.fnUntraced(function* (replica: Replica) {
  const { integrations, storage } = replica
  const { key } = yield* integrations.create({ name: CRON, kind: "ping" })
  const sender = yield* integrations.recognise(Redacted.make(key))
  const sends = (path: ReadonlyArray<string>, body = "") =>
    integrations.report("ping", sender, { method: "POST", path, query: [], body })
  const explains = (check_id: string) =>
    explainOperations(
      { commits: replica.commits, storage, rules: defaultRules, sha256: String, policy: NO_POLICY },
      (ref, hasReported) => (hasReported ? Effect.succeed([]) : logReasons({ storage })(ref)),
    ).explain({
      agent_id: CRON,
      check_id: CheckId.make(check_id),
    })
  yield* sends(["backup", "log"], "a line")
  yield* sends(["started", "log"], "a line")
  yield* sends(["started", "start"])
  yield* sends(["ended", "log"], "a line")
  yield* sends(["ended"])
  yield* sends(["ended", "log"], "a line")
  const { check, reasons } = yield* explains("backup")
  assert.deepStrictEqual(
    [check.status, reasons],
    [
      null,
      [
        "It only gets /log, which states no result: send its address alone when the job succeeds, and with /fail when it fails.",
      ],
    ],
  )
  assert.notInclude((yield* explains("ended")).reasons.join(), "/log")
  assert.strictEqual(yield* outcomeOf(Effect.as(explains("other"), "explained")), "NotFound")
  assert.deepStrictEqual(yield* integrations.withOnlyLogs, [
    { agent_id: CRON, check_id: CheckId.make("backup") },
  ])
})

/** Of a plugin that states more than people want to keep. */
const keepsNumbers = Effect.fnUntraced(function* (replica: Replica) {
  const { integrations, storage } = replica
  const options = { numbers: ["eth0_*", "load?"] }
  const { key } = yield* integrations.create({ name: CRON, kind: "ping", options })
  const sender = yield* integrations.recognise(Redacted.make(key))
  const outputs = Effect.fnUntraced(function* (body: string) {
    yield* integrations.report("ping", sender, { method: "POST", path: ["net"], query: [], body })
    return (yield* storage.check(CRON, CheckId.make("net")))?.summary
  })
  assert.strictEqual(yield* outputs("OK | eth0_rx=1 eth1_rx=2 load1=3 load15=4"), "OK | eth0_rx=1 load1=3")
  assert.strictEqual(yield* outputs("a | b"), "a | b")
  yield* integrations.change(CRON, { options: {} })
  const fresh = yield* integrations.recognise(Redacted.make(key))
  yield* integrations.report("ping", fresh, {
    method: "POST",
    path: ["net"],
    query: [],
    body: "OK | eth1_rx=2",
  })
  assert.strictEqual((yield* storage.check(CRON, CheckId.make("net")))?.summary, "OK | eth1_rx=2")
})

const takesCheckIns = Effect.fnUntraced(function* (replica: Replica) {
  const { key } = yield* replica.integrations.create({ name: CRON, kind: "sentry" })
  const sender = yield* replica.integrations.recognise(Redacted.make(key))
  const checksIn = (fields: object) =>
    replica.integrations.report("sentry", sender, {
      method: "POST",
      path: ["api", "1", "envelope"],
      query: [],
      body: `{}\n{"type":"check_in"}\n${JSON.stringify({ monitor_slug: "nightly", ...fields })}`,
    })
  const run = { check_in_id: "cf31002a42f0485180eb7347ffa56fc9" }
  const schedule = { type: "interval", value: 2, unit: "hour" }
  yield* checksIn({ ...run, status: "in_progress", monitor_config: { schedule, max_runtime: 90 } })
  yield* TestClock.adjust("80 minutes")
  // Longer than a run may take of which nothing is known.
  yield* sweeps(replica, CRON)
  yield* checksIn({ ...run, status: "ok" })
  const check = (yield* replica.storage.check(CRON, CheckId.make("nightly"))) ?? assert.fail("no check")
  assert.deepStrictEqual([check.status, check.overdue_incident_id], ["ok", undefined])
  const [ended] = yield* rowsOf(replica, "history")
  assert.strictEqual(ended?.duration_ms, 80 * 60_000)
  const [row] = yield* replica.storage.rows("expectation", [check])
  assert.deepInclude(row?.terms, { after_millis: 210 * 60_000, grace_millis: 90 * 60_000 })
})

/** An alert whose recovery was lost: its sender reports changes alone, so nothing else ends it. */
const endsWithoutNews = (kind: "opsgenie" | "pagerduty" | "webhook") => (replica: Replica) =>
  Effect.gen(function* () {
    const name = IntegrationName.make("hooks")
    const options = kind === "webhook" ? { map: { check: "/c", status: "/s" } } : {}
    const { key } = yield* replica.integrations.create({ name, kind, options })
    const sender = yield* replica.integrations.recognise(Redacted.make(key))
    const fires = (c: string) => {
      const [path, sent] = {
        webhook: ["", { c, s: "critical" }],
        opsgenie: ["v2/alerts", { alias: c, message: "disk full", priority: "P1" }],
        pagerduty: ["v2/enqueue", { event_action: "trigger", dedup_key: c, payload: PAYLOAD }],
      }[kind] as [string, object]
      return replica.integrations.report(kind, sender, {
        method: "POST",
        path: path === "" ? [] : path.split("/"),
        query: [],
        body: JSON.stringify(sent),
      })
    }
    const hours = Effect.fnUntraced(function* (count: number) {
      for (let hour = 0; hour < count; hour++) {
        yield* TestClock.adjust("1 hour")
        yield* sweeps(replica, name)
      }
      const checks = yield* rowsOf(replica, "checks")
      return Object.fromEntries(checks.map(({ check_id, status, summary }) => [check_id, [status, summary]]))
    })
    yield* fires("lost")
    yield* fires("repeated")
    const before = yield* hours(72)
    assert.strictEqual(before["lost"]?.[0], "critical")
    // An alert that is there when the option is set counts, too.
    yield* replica.integrations.change(name, {
      options: { ...options, lapse_after: "90h", forget_after: "93d" },
    })
    yield* fires("repeated")
    assert.strictEqual((yield* hours(17))["lost"]?.[0], "critical")
    // Within a day of the change.
    const { lost, repeated } = yield* hours(8)
    assert.deepStrictEqual(lost, ["ok", "no news of it for 90h, so it ended by lapse_after"])
    assert.strictEqual(repeated?.[0], "critical")
    assert.deepStrictEqual((yield* hours(73))["repeated"]?.[0], "ok")
    yield* fires("lost")
    assert.strictEqual((yield* hours(1))["lost"]?.[0], "critical")
  })

const PAYLOAD = { summary: "disk full", source: "db-1", severity: "critical" }

/** Reports of senders of single kinds, over time (docs/rules.md#integrations). */
export const integrationKindSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("senders of single kinds", () => {
    it.effect("have a subscription confirmed where they ask to, and hear why it is not", () =>
      confirmsSubscriptions(subject),
    )
    it.effect("keep the words of a failure that they repeat without them", () =>
      Effect.flatMap(openReplica(subject), keepsWords),
    )
    it.effect("only send logs of a job: its explanation and the doctor say what to send", () =>
      Effect.flatMap(openReplica(subject), explainsLogs),
    )
    it.effect("state the numbers that their integration keeps", () =>
      Effect.flatMap(openReplica(subject), keepsNumbers),
    )
    it.effect("bring a schedule with a check-in, and the end of its run", () =>
      Effect.flatMap(openReplica(subject), takesCheckIns),
    )
    it.effect.each(["webhook", "pagerduty", "opsgenie"] as const)(
      "of %s whose recovery was lost end after lapse_after without news",
      (kind) => Effect.flatMap(openReplica(subject), endsWithoutNews(kind)),
    )
  })
}
