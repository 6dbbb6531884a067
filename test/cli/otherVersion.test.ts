import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { jsonOf, tocsin } from "./tocsin.ts"

/** A storage beside which a server of version 0.3.0 runs, which reports no names. */
const besideFormer = Effect.gen(function* () {
  const place = { cwd: yield* scratchFolder, environment: {} }
  yield* jsonOf(place, "migrate")
  const database = new DatabaseSync(join(place.cwd, "data/tocsin.db"))
  const now = BigInt(Date.now()) * 1_000n
  database
    .prepare(
      "INSERT INTO replica (id, version, policy_hash, receivers, probes, started_at, seen_at) VALUES ('a', '0.3.0', '', '[]', 1, ?, ?)",
    )
    .run(now, now)
  database.close()
  return place
})

describe("beside a server of the former version", () => {
  it.live("a policy, a watch and an integration are refused with what it lacks", () =>
    Effect.gen(function* () {
      const place = yield* besideFormer
      const refusedFor = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const { code, stderr } = yield* tocsin(place, ...args)
        const [, lacked] = /version 0\.3\.0 does not know (.*): upgrade or stop it/u.exec(stderr) ?? []
        return [code === 0, code === 0 ? undefined : (lacked ?? stderr)]
      })
      const apply = (text: string) => {
        writeFileSync(join(place.cwd, "policy.yaml"), text)
        return refusedFor("policy", "apply", "policy.yaml", "--confirm")
      }
      const chat = "kind: messenger, url_env: TOCSIN_SECRET_CHAT"
      assert.deepStrictEqual(yield* apply("again_after: 1h\n"), [false, "again_after"])
      assert.deepStrictEqual(yield* apply("tz: Europe/Berlin\n"), [false, "tz"])
      assert.deepStrictEqual(yield* apply(`receivers: { chat: { ${chat}, digest: off } }\n`), [
        false,
        "receivers.digest=off",
      ])
      assert.deepStrictEqual(yield* apply(`receivers: { chat: { ${chat} } }\n`), [true, undefined])
      assert.deepStrictEqual(yield* refusedFor("watch", "ping:shop.example"), [false, "watches.ping"])
      assert.deepStrictEqual(yield* refusedFor("integrations", "add", "mails", "--kind", "mail"), [
        false,
        "the integration kind mail",
      ])
    }),
  )
})
