import { assert, it } from "@effect/vitest"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { Duration, Effect } from "effect"
import { vi } from "vitest"
import { policyReceivers } from "../src/policyReceivers.ts"
import { fakes } from "./services/fakes.ts"
import { testIds } from "./testIds.ts"

const posting = { timeout: Duration.seconds(15), denyPrivateTargets: false }

const secrets = Object.entries(fakes).flatMap(([type, fake]) =>
  Object.keys(fake.secrets).map((name) => [type, name, fake.definition] as const),
)

it.effect.each(secrets)("the problem of a secret is at its key: %s, %s", ([_type, name, definition]) =>
  Effect.gen(function* () {
    vi.stubEnv("PLANTED", "planted with spaces")
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
    // Its other secrets are absent, as no checked policy has them.
    const receiver = { ...definition, [`${name}_env`]: "PLANTED" } as Receiver
    const { problems } = yield* Effect.provide(policyReceivers({ a: receiver }, posting), testIds)
    assert.deepStrictEqual(problems, [
      {
        message: "names a value that must be visible ASCII characters, without spaces",
        path: ["receivers", "a", `${name}_env`],
      },
    ])
  }),
)

it.effect("a receiver whose secret is another has another mark", () =>
  Effect.gen(function* () {
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
    const markWith = Effect.fnUntraced(function* (url: string) {
      vi.stubEnv("PLANTED", url)
      const chat: Receiver = { kind: "messenger", url_env: "PLANTED" }
      const { made } = yield* Effect.provide(policyReceivers({ chat }, posting), testIds)
      return made.get("chat")?.mark ?? assert.fail("it has none")
    })
    const former = yield* markWith("https://chat.example.org/former")
    assert.strictEqual(yield* markWith("https://chat.example.org/former"), former)
    assert.notStrictEqual(yield* markWith("https://chat.example.org/present"), former)
  }),
)

vi.mock("../src/alertrouter/alertRouter.ts", () => {
  throw new Error("its file is gone")
})

it.effect(
  "a kind whose part was replaced since the program started makes its receiver alone unavailable",
  () =>
    Effect.gen(function* () {
      vi.stubEnv("PLANTED", "https://router.example.org")
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const receivers = {
        chat: { kind: "messenger", url_env: "PLANTED" },
        router: { kind: "alert_router", url_env: "PLANTED" },
      } as const
      const { made, problems } = yield* Effect.provide(policyReceivers(receivers, posting), testIds)
      assert.deepStrictEqual(Array.from(made.keys()), ["chat"])
      assert.deepStrictEqual(problems, [
        {
          message:
            "needs a part of this program that cannot be loaded, as after an upgrade: restart the program",
          path: ["receivers", "router"],
        },
      ])
    }),
)
