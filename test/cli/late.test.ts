import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import * as Instant from "@tocsin/contract/formats/Instant"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { evaluateListed } from "@tocsin/core/heart/checks/withdrawChecks"
import { incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { countingIds } from "@tocsin/core/kernel/ports/Ids"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { becomeLate } from "@tocsin/testing/becomeLate"
import { enroll, report } from "../processes/Agent.ts"
import { operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

describe("a late check", () => {
  it.live("is late in lists of commands, as a table, JSON and CSV, and in reports", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      const agent = yield* enroll(server, "web-1")
      yield* report(
        server,
        agent,
        { check_id: "backup", status: "ok" },
        { check_id: "disk", status: "ok" },
        { check_id: "gone", status: "critical" },
      )
      const checks = ["backup", "never"].map((check_id) => ({ check_id, cron: "0 3 * * *", tz: "UTC" }))
      const path = "/ops/v1/agents/web-1/expectations"
      const declare = (...others: ReadonlyArray<object>) =>
        Effect.flatMap(Instant.now, (now) =>
          operate(server, "PUT", path, {
            token: agent.key,
            json: {
              complete: true,
              as_of: Instant.format(now),
              checks: [...checks, { check_id: "disk" }, ...others],
            },
          }),
        )
      yield* declare({ check_id: "gone" })
      yield* declare()
      const { sha256 } = yield* Effect.provide(Hashing, NodeHashing.layer())
      const policy = compilePolicy({}, [])
      const options = incidentOptions(countingIds(), { current: () => policy }, defaultRules, { sha256 })
      const ids = checks.map(({ check_id }) => CheckId.make(check_id))
      yield* Storage.use((storage) =>
        Effect.gen(function* () {
          const agentId = AgentId.make("web-1")
          yield* transact(storage, becomeLate(agentId, ids, options))
          const withdraw = {
            agentId,
            checkIds: [CheckId.make("gone")],
            outageEnd: undefined,
            incidents: options,
          }
          const later = Instant.toMillis(yield* Instant.now) + 180_000
          yield* TestClock.setTime(later).pipe(
            Effect.andThen(transact(storage, evaluateListed(withdraw, undefined))),
            Effect.provide(TestClock.layer()),
          )
        }),
      ).pipe(Effect.provide(SqliteStorage.layer({ file: join(place.cwd, "data", "tocsin.db") })))

      const { items } = (yield* jsonOf(place, "checks", "--state", "late")) as {
        readonly items: ReadonlyArray<object>
      }
      assert.lengthOf(items, 2)
      assert.deepInclude(items[0], {
        check_id: "backup",
        state: "late",
        status: "ok",
        late_severity: "critical",
      })
      assert.deepInclude(items[1], { check_id: "never", state: "late", status: null })
      const { stdout } = yield* tocsin(place, "checks")
      assert.match(
        stdout,
        /^AGENT +CHECK +STATE +LAST .*\nweb-1 +backup +late +ok .*\nweb-1 +disk +ok +ok .*\nweb-1 +gone +withdrawn +critical /,
      )
      assert.match(
        (yield* tocsin(place, "checks", "--state", "withdrawn")).stdout,
        /\nweb-1 +gone +withdrawn [^\n]*\n$/,
      )
      const counted = (yield* tocsin(place, "summary")).stdout
      for (const count of ["ok +1", "critical +0", "late +2", "withdrawn +1"])
        assert.match(counted, new RegExp(`checks_${count}\\n`))
      assert.strictEqual((yield* tocsin(place, "checks", "--overdue")).stdout.split("\n").length, 4)
      const csv = (yield* tocsin(place, "checks", "--state", "late", "--csv")).stdout.split("\r\n")
      assert.match(csv[0] ?? "", /,state,late_severity,title,held_by$/)
      assert.match(csv[1] ?? "", /^web-1,backup,ok,.*,late,critical,,\[\]$/)
      yield* tocsin(place, "silences", "add", "check_id = disk", "--for", "1h", "--comment", "known")
      assert.match((yield* tocsin(place, "checks")).stdout, /\nweb-1 +disk +ok +ok +silence:/)
      const held = (yield* jsonOf(place, "checks", "--state", "ok")) as {
        readonly items: ReadonlyArray<object>
      }
      assert.match(JSON.stringify(held.items), /"held_by":\["silence:[-0-9a-f]{36}"\]/)
      const span = yield* tocsin(place, "report", "--group", "team")
      assert.match(span.stdout, /CRITICAL +LATE +PLANNED/)
      assert.match(span.stdout, /\nGROUP +CHECKS +OK\n\(none\) +4 /)
      const summed = yield* jsonOf(place, "report")
      assert.hasAllKeys(summed, ["items", "has_more", "groups", "worst", "incidents", "late"])
      assert.match(
        (yield* tocsin(place, "report", "--csv")).stdout,
        /^agent_id,[^\n]*\r\nweb-1,backup,[^G]*$/,
      )
    }),
  )
})
