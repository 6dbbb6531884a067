import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { AGENT, enroll, report } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const RULES = { notifiers: ["webhook"], keepsNotifiers: false }

it.effect(
  "an incident notifies the receiver of a module that only another server has, also while that restarts",
  () =>
    Effect.gen(function* () {
      const service = yield* openService({ ...RULES, deadAfter: Duration.days(365) })
      const opened = { keepsHouse: true, reports: true }
      const openWith = (name: string) =>
        service.open(name, { ...opened, configured: ["webhook", "lamp"], rules: { extensions: ["lamp"] } })
      const plain = yield* service.open("plain", opened)
      const lamp = yield* openWith("lamp")
      yield* enroll(plain, AGENT)
      const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
      const reports = (check: string) => Effect.orDie(report(plain, [{ check, status: "critical" }]))
      const messages = () =>
        service.receivers.arrivals.map(({ notification }) => notification.receiver).toSorted()
      yield* after("30 seconds")
      yield* reports("disk")
      yield* after("20 seconds")
      assert.deepStrictEqual(messages(), ["lamp", "webhook"])
      // Its row has ended, and the other server has reported again.
      yield* lamp.close
      yield* after("30 seconds")
      yield* reports("memory")
      yield* openWith("lamp again")
      yield* after("30 seconds")
      assert.deepStrictEqual(messages(), ["lamp", "lamp", "webhook", "webhook"])
      assert.deepStrictEqual(plain.policy.current().unavailable?.has("lamp"), true)
    }),
)

it.effect("an incident does not notify the receiver of a module that no server has had for minutes", () =>
  Effect.gen(function* () {
    const service = yield* openService({ ...RULES, deadAfter: Duration.days(365) })
    const plain = yield* service.open("plain", { reports: true })
    const lamp = yield* service.open("lamp", { reports: true, rules: { extensions: ["lamp"] } })
    yield* service.passes("30 seconds")
    assert.deepStrictEqual(plain.policy.elsewhere(), ["lamp"])
    yield* lamp.close
    yield* service.passes("5 minutes")
    assert.deepStrictEqual(plain.policy.elsewhere(), [])
    assert.deepStrictEqual(Array.from(plain.policy.current().receivers.keys()), ["webhook"])
  }),
)

/** A failure that a server and one that lacks the receiver `pager` know of, acknowledged for 20 minutes. */
const acknowledgedOnBoth = Effect.fnUntraced(function* (
  options: Pick<NonNullable<Parameters<typeof openService>[0]>, "answerTo"> = {},
) {
  const service = yield* openService({
    notifiers: ["chat"],
    keepsNotifiers: false,
    deadAfter: Duration.days(365),
    ...options,
  })
  const plain = yield* service.open("plain", { keepsHouse: true })
  const other = yield* service.open("other", {
    keepsHouse: true,
    rules: { notifiers: ["chat", "pager"] },
  })
  yield* enroll(plain, AGENT)
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  yield* Effect.orDie(report(other, [{ check: "disk", status: "critical" }]))
  yield* after("2 seconds")
  const [incident] = service.rows().incidents.values()
  assert(incident !== undefined)
  yield* plain.operations.acknowledge(incident.id, { for: Duration.minutes(20) })
  return { service, plain, incident, after }
})

for (const end of ["it runs out", "a person withdraws it"])
  it.effect(
    `another takes the place of a retry after its acknowledgement, where a server without its receiver evaluates first: ${end}`,
    () =>
      Effect.gen(function* () {
        let isDown = true
        const { after, incident, plain, service } = yield* acknowledgedOnBoth({
          answerTo: ({ receiver }) => (receiver === "pager" && isDown ? deferred : delivered),
        })
        isDown = false
        yield* after("19 minutes")
        const messages = () =>
          service.receivers.arrivals.map(({ notification }) => notification.receiver).toSorted()
        assert.deepStrictEqual(messages(), ["chat"])
        if (end !== "it runs out") yield* plain.operations.withdraw(incident.id)
        else yield* after("1 minute")
        yield* after("30 seconds")
        const atLast = end === "it runs out" ? ["chat", "chat", "pager"] : ["chat", "pager"]
        assert.deepStrictEqual(messages(), atLast)
        const rows = Array.from(service.rows().outbox.values()).filter(({ receiver }) => receiver === "pager")
        assert.deepStrictEqual(
          rows.map(({ state }) => state),
          ["discarded", "sent"],
        )
      }),
  )

it.effect(
  "a receiver that has its firing hears that the acknowledgement ran out, where a server without it evaluates first",
  () =>
    Effect.gen(function* () {
      const { after, incident, service } = yield* acknowledgedOnBoth()
      yield* after("20 minutes")
      yield* after("30 seconds")
      const messages = service.receivers.arrivals.map(
        ({ notification: { cause, reason, receiver } }) => `${receiver} ${cause} ${reason?.by}`,
      )
      const by = incident.ack_by ?? service.receivers.arrivals.at(-1)?.notification.reason?.by
      assert.deepStrictEqual(messages.toSorted(), [
        `chat ack_ran_out ${by}`,
        "chat opened undefined",
        `pager ack_ran_out ${by}`,
        "pager opened undefined",
      ])
    }),
)
