import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqliteFailures } from "../../src/connection/SqliteFailures.ts"

const forbiddenBy = {
  "Node.js with --permission": Object.assign(new Error("Access to this API has been restricted."), {
    code: "ERR_ACCESS_DENIED",
    permission: "FileSystemRead",
  }),
  Deno: Object.assign(new Error('Requires read access to "/data", run again with the --allow-read flag'), {
    name: "NotCapable",
  }),
}

for (const [runtime, error] of Object.entries(forbiddenBy))
  it.effect(`a file that the runtime keeps is no fault of the disk: ${runtime}`, () =>
    Effect.gen(function* () {
      const { message, reason } = yield* Effect.flip(new SqliteFailures("/data/tocsin.db").toEffect(error))
      assert.strictEqual(reason, "unavailable")
      assert.match(message, /^the runtime keeps \/data\/tocsin.db from this program: grant it/)
    }),
  )
