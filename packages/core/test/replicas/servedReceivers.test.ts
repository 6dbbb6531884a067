import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import { servedReceivers, unusableReceivers } from "@tocsin/core/replicas/listedReceivers"
import type { ReceiverListing } from "@tocsin/core/model/ReplicaRecord"

const NOW = Instant.fromMillis(Date.UTC(2026, 0, 1))

const replicaWith = (id: string, ...receivers: ReadonlyArray<ReceiverListing>) => ({
  id,
  version: "1.0.0",
  policy_hash: "a",
  receivers,
  probes: false,
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
