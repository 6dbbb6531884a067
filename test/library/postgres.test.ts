import { assert, layer } from "@effect/vitest"
import { createMonitor, type Monitor, postgres } from "tocsin"
import { Effect, Redacted } from "effect"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { collect, enroll, resultOf, send, until } from "./requests.ts"

layer(ScratchPostgres.layerMigrated)("two monitors on one PostgreSQL", (it) => {
  it.effect("are one: what one takes the other shows, and each notification is sent by one of them", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      yield* Effect.promise(() => together(Redacted.value(url)))
    }),
  )
})

const together = async (url: string) => {
  const sent: Array<string> = []
  const open = (): Promise<Monitor> =>
    createMonitor({
      storage: postgres(url),
      log: false,
      notifiers: [{ name: "pager", send: ({ event_type }) => void sent.push(event_type) }],
    })
  await using first = await open()
  await using second = await open()
  await enroll(first, "a")
  await send(second, "a", resultOf("critical"))
  assert.lengthOf(await collect(first.incidents.all({ state: "open" })), 1)
  await until(() => sent.length === 1)
  await send(first, "a", resultOf("ok"))
  const isDone = async () => (await collect(first.outbox.all())).every(({ state }) => state === "sent")
  await until(async () => sent.length === 2 && (await isDone()))
  assert.deepStrictEqual(sent, ["firing", "resolved"])
}
