import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { enroll } from "../processes/Agent.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

const ADD = ["silences", "add", "check_id = cpu", "--comment", "new fans", "--for"]

describe("commands on silences", () => {
  it.live("preview, create, extend, end and list them, and change none that has ended", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const run = (...args: ReadonlyArray<string>) => tocsin(place, ...args)
      yield* run("migrate")
      const preview = yield* run(...ADD, "1h", "--dry-run")
      assert.include(preview.stdout, "covers 0 open incidents; would hold 0 notifications")
      const created = (yield* jsonOf(place, ...ADD, "1h")) as { readonly id: string }
      const longer = yield* run("silences", "extend", created.id, "--for", "2h")
      assert.match(longer.stdout, /^\S+: ends at \S+Z\n$/)
      assert.strictEqual((yield* run("silences", "expire", created.id)).stdout, `${created.id}: expired\n`)
      const late = yield* run("silences", "extend", created.id, "--for", "1h")
      assert.strictEqual(late.code, EXIT_CODES.refused.code)
      const { stdout } = yield* run("silences", "list", "--state", "expired")
      assert.match(stdout, /expired .* cli:\w+ +check_id = cpu +new fans/)
    }),
  )

  it.live("refuse matchers of which none names anything, such as one with an unset variable", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      yield* tocsin(place, "migrate")
      for (const written of ["label:node = ", "check_id=", "agent_id glob *", "label:node glob * *"]) {
        const refused = yield* tocsin(place, "silences", "add", written, "--for", "1h", "--comment", "c")
        assert.include(refused.stderr, "that names something: = with a value", written)
        assert.strictEqual(refused.code, EXIT_CODES.usage.code)
      }
      const quoted = yield* tocsin(place, "silences", "add", 'label:a = "b"', "--for", "1h", "--comment", "c")
      assert.include(
        quoted.stderr,
        'warning: a matcher compares with quotes as a part of the value (label:a = "b")',
      )
      assert.strictEqual(quoted.code, 0)
    }),
  )

  it.live("refuse what needs another flag, and name it", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      for (let number = 1; number <= 11; number++) yield* enroll(server, `web-${number}`)
      const wide = ["silences", "add", "check_id glob c*", "--comment", "new fans"]
      const endless = yield* tocsin(place, ...wide)
      assert.include(endless.stderr, "give either --for or --ends-at")
      assert.strictEqual(endless.code, EXIT_CODES.usage.code)
      const refused = yield* tocsin(place, ...wide, "--for", "1h")
      assert.include(
        refused.stderr,
        "the silence covers 11 agents, more than half of all: add --confirm if that is meant",
      )
      assert.strictEqual(refused.code, EXIT_CODES.refused.code)
      const confirmed = yield* tocsin(place, ...wide, "--for", "1h", "--confirm")
      assert.match(confirmed.stdout, /^\S+: active\n$/)
      const later = yield* tocsin(place, ...wide, "--starts-at", "tomorrow 8:00", "--for", "2h", "--confirm")
      assert.match(later.stdout, /^\S+: scheduled from \S+T08:00:00.000Z until \S+T10:00:00.000Z\n$/)
    }),
  )
})
