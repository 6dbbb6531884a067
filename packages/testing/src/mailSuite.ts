import { assert, describe, it } from "@effect/vitest"
import { IntegrationName, type IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import * as Instant from "@tocsin/contract/formats/Instant"
import { mailsChore } from "@tocsin/core/features/integrations/mail/sweepMails"
import { repairClocks } from "@tocsin/core/heart/clock/repairClocks"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sweeps } from "./alertSender.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const NAME = IntegrationName.make("devices")

/** Creates an integration of kind mail, and sends it mails. */
const open = Effect.fnUntraced(function* (replica: Replica, options: IntegrationOptions) {
  const { integrations } = replica
  const { key } = yield* integrations.create({ name: NAME, kind: "mail", options })
  return Effect.fnUntraced(function* (
    subject: string,
    { ago = 0, check = "", from = "nas@x", relays = 0 } = {},
  ) {
    const sender = yield* integrations.mailbox(Redacted.make(key))
    const sent_at = Instant.fromMicros((yield* Instant.now) - BigInt(ago) * 1_000_000n)
    const received = Array.from({ length: relays }, (_, n) => ["received", `${n}${"x".repeat(600)}`] as const)
    const fields = [...received, ["from", from] as const, ["subject", subject] as const]
    yield* integrations.takeMail(sender, {
      mail: { sender: "", fields, text: "text", sent_at: ago < 0 ? undefined : sent_at, isReport: false },
      check,
    })
  })
})

const passes = Effect.fnUntraced(function* (replica: Replica, minutes: number, piece = 10) {
  const { commits, incidents, storage } = replica
  const services = { storage, commits, rules: defaultRules, pieces: { rows: 100, incidents: 100 } }
  for (let left = minutes; left > 0; left -= piece) {
    yield* TestClock.adjust(`${piece} minutes`)
    yield* sweeps(replica, NAME)
    yield* mailsChore(services, incidents).piece
  }
})

/** Each check's status, and whether it is overdue, with the first line of its output. */
const shown = (replica: Replica) =>
  Effect.map(rowsOf(replica, "checks"), (checks) =>
    checks.map(
      ({ overdue_incident_id, status, summary = "" }) =>
        `${status}${overdue_incident_id === undefined ? "" : " overdue"}: ${summary.split("\n")[0]}`,
    ),
  )

/** Checks that mails report: their ends, expectations, late mails and the kept ones. */
export const mailSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("checks that mails report", () => {
    const scenario = (
      name: string,
      options: IntegrationOptions,
      run: (replica: Replica, send: Effect.Success<ReturnType<typeof open>>) => Effect.Effect<void, unknown>,
    ): void => {
      it.effect(name, () =>
        Effect.gen(function* () {
          yield* TestClock.adjust("30 days")
          const replica = yield* openReplica(subject)
          yield* run(replica, yield* open(replica, options))
        }),
      )
    }

    scenario(
      "become ok once no mail came for resolve_after, and by subject are forgotten",
      { resolve_after: "1h" },
      (replica, send) =>
        Effect.gen(function* () {
          yield* send("disk failed")
          yield* send("backup failed", { check: "backup" })
          yield* passes(replica, 50)
          yield* send("backup failed", { check: "backup" })
          yield* passes(replica, 20)
          assert.sameMembers(yield* shown(replica), ["ok: no mail for 1h", "critical: backup failed"])
          yield* passes(replica, 25 * 60)
          assert.deepStrictEqual(yield* shown(replica), ["ok: no mail for 1h"])
        }),
    )

    scenario(
      "are expected by the options at that moment, but those by subject",
      { expect: { every: "1h", after: "1h" } },
      (replica, send) =>
        Effect.gen(function* () {
          yield* send("backup OK", { check: "backup" })
          yield* send("disk failed")
          yield* passes(replica, 70, 1)
          assert.sameMembers(yield* shown(replica), ["ok overdue: backup OK", "critical: disk failed"])
          yield* replica.integrations.change(NAME, { options: {} })
          assert.sameMembers(yield* shown(replica), ["ok: backup OK", "critical: disk failed"])
        }),
    )

    scenario("follow options that change, expected before and after or not", {}, (replica, send) =>
      Effect.gen(function* () {
        const change = (options: IntegrationOptions) => replica.integrations.change(NAME, { options })
        yield* send("backup failed", { check: "backup" })
        yield* send("disk failed")
        yield* change({ resolve_after: "1h" })
        yield* passes(replica, 70)
        assert.deepStrictEqual(yield* shown(replica), ["ok: no mail for 1h", "ok: no mail for 1h"])
        yield* send("fan OK", { check: "fan" })
        yield* change({ expect: { every: "1h", after: "1h" } })
        yield* passes(replica, 70, 1)
        assert.sameMembers(yield* shown(replica), [
          "ok overdue: no mail for 1h",
          "ok: no mail for 1h",
          "ok overdue: fan OK",
        ])
      }),
    )

    scenario("ignore an ok by subject of none, and a mail that is late", {}, (replica, send) =>
      Effect.gen(function* () {
        yield* send("disk OK")
        assert.deepStrictEqual(yield* shown(replica), [])
        yield* send("disk OK", { check: "disk", ago: 60 })
        yield* send("disk failed", { check: "disk", ago: 120 })
        assert.deepStrictEqual(yield* shown(replica), ["ok: disk OK"])
        // Another sender, no Date, and one of six days ago.
        yield* send("disk failed", { check: "disk", ago: 120, from: "other@x" })
        yield* send("disk OK", { check: "disk", ago: -1 })
        yield* send("disk failed", { check: "disk", ago: 6 * 86_400 })
        assert.deepStrictEqual(yield* shown(replica), ["critical: disk failed"])
        const { items } = yield* replica.integrations.mails(NAME)
        assert.deepStrictEqual(
          items.map(({ outcome }) => outcome),
          ["applied", "applied", "applied", "late", "applied", "ignored"],
        )
      }),
    )

    scenario(
      "are reported and become ok in time after a clock that was ahead is set back",
      { resolve_after: "1h" },
      (replica, send) =>
        Effect.gen(function* () {
          const { commits, storage } = replica
          const right = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
          yield* TestClock.adjust("1 day")
          yield* send("disk failed", { check: "disk" })
          yield* send("fan OK", { check: "fan" })
          yield* TestClock.setTime(right)
          yield* repairClocks(storage, commits, defaultRules)
          yield* TestClock.adjust("1 minute")
          yield* send("fan failed", { check: "fan" })
          assert.sameMembers(yield* shown(replica), ["critical: disk failed", "critical: fan failed"])
          yield* passes(replica, 70)
          assert.deepStrictEqual(yield* shown(replica), ["ok: no mail for 1h", "ok: no mail for 1h"])
        }),
    )

    scenario("are tried again by what decided about them", {}, (replica, send) =>
      Effect.gen(function* () {
        const subject = "Cron <root@vm> backup (failed)"
        yield* send(subject, { relays: 30 })
        const [{ id } = {}] = (yield* replica.integrations.mails(NAME)).items
        const tried = yield* replica.integrations.tryMail(NAME, { ...(id !== undefined && { id }) })
        assert.deepStrictEqual(
          [tried.by, tried.labels?.["from"], tried.output],
          ["cron", "nas@x", `${subject}\ntext`],
        )
      }),
    )

    scenario("are of the last 20 mails of 7 days, which go with the integration", {}, (replica, send) =>
      Effect.gen(function* () {
        for (let n = 0; n < 25; n++) {
          yield* send(`disk ${n} failed`)
          yield* TestClock.adjust("1 minute")
        }
        const { items } = yield* replica.integrations.mails(NAME)
        assert.deepStrictEqual(
          items.map(({ subject: of }) => of),
          Array.from({ length: 20 }, (_, place) => `disk ${24 - place} failed`),
        )
        const [newest] = items
        const options: IntegrationOptions = { rules: [{ match: { subject: "disk * failed" }, check: "d$1" }] }
        const tried = yield* replica.integrations.tryMail(NAME, {
          ...(newest !== undefined && { id: newest.id }),
          options,
        })
        const { by, check_id = "", outcome, status = "" } = tried
        assert.deepStrictEqual([outcome, by, check_id, status], ["applied", "rule 1", "d24", "critical"])
        assert.strictEqual((yield* shown(replica)).length, 25)
        yield* TestClock.adjust("7 days")
        assert.deepStrictEqual((yield* replica.integrations.mails(NAME)).items, [])
        yield* replica.integrations.remove(NAME)
        yield* replica.integrations.create({ name: NAME, kind: "mail" })
        assert.deepStrictEqual((yield* replica.integrations.mails(NAME)).items, [])
      }),
    )
  })
}
