import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { outOfReach, servedReceivers, unusableReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import type { ReceiverListing } from "@tocsin/core/heart/model/ReplicaRecord"

const NOW = Instant.fromMillis(Date.UTC(2026, 0, 1))

const replicaWith = (id: string, ...receivers: ReadonlyArray<ReceiverListing>) => ({
  id,
  version: "1.0.0",
  policy_hash: "a",
  receivers,
  probes: false,
  agent_sha256: undefined,
  known_names: undefined,
  started_at: NOW,
  seen_at: NOW,
  ended_at: undefined,
})

it("a receiver is served by servers that have it now and can read its secrets", () => {
  const reason = "names a file that cannot be read"
  const replicas = [
    replicaWith(
      "1",
      { name: "chat" },
      { name: "pager", unavailable: reason },
      { name: "mail", unavailable: reason },
    ),
    replicaWith("2", { name: "mail" }, { name: "pager", left_millis: 0 }),
  ]
  assert.deepStrictEqual(Array.from(servedReceivers(new Map(), replicas, NOW)).toSorted(), ["chat", "mail"])
  assert.deepStrictEqual(
    unusableReceivers(replicas).map(({ byNone, receiver }) => [receiver, byNone]),
    [
      ["mail", false],
      ["pager", true],
    ],
  )
})

it("a receiver is out of reach two minutes after no server could use it any more", () => {
  const at = (minute: number) => Instant.fromMillis(Date.UTC(2026, 0, 1, 0, minute))
  const [started, now] = [at(0), at(9)]
  const live = { started_at: started, seen_at: now }
  const since = (minute: number) => ({
    unavailable: "its secret cannot be read",
    unavailable_since_millis: Date.UTC(2026, 0, 1, 0, minute),
  })
  const replicas = [
    {
      ...replicaWith("1", { name: "chat" }, { name: "pager", ...since(3) }, { name: "mail", ...since(1) }),
      ...live,
    },
    {
      ...replicaWith("2", { name: "pager" }, { name: "mail", ...since(2) }),
      started_at: started,
      seen_at: at(4),
    },
    { ...replicaWith("3", { name: "sms", unavailable: "of a version that states no time" }), ...live },
  ]
  assert.deepStrictEqual(Array.from(outOfReach(["chat", "pager", "mail", "sms", "none"], replicas, now)), [
    ["pager", at(6)],
    ["mail", at(4)],
    ["sms", at(2)],
  ])
})
