import { Effect, Latch } from "effect"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { ListQuery } from "../../lists/ListDefinitions.ts"
import type { RepairedReceivers } from "../firings/FiringFacts.ts"
import { OWED_AGAIN_FOR } from "../firings/situation.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { EVALUATE_EVERY, evaluateIncidents } from "./evaluateIncidents.ts"

const REFUSED_FIRINGS = {
  list: "outbox",
  filter: { state: "failed", event_type: "firing" },
  sort: "created_at",
  direction: "desc",
} as const satisfies ListQuery<"outbox">

/** Owes receivers that work what they refused in the last day (docs/rules.md#repaired-receivers). */
export const repairReceivers = Effect.fnUntraced(function* (
  { commits, storage }: Pick<ChoreServices, "commits" | "storage">,
  incidents: IncidentOptions,
  repaired: RepairedReceivers,
) {
  const oldest = Instant.minus(yield* Instant.now, OWED_AGAIN_FOR)
  const found = new Set<IncidentId>()
  yield* eachPage(storage, REFUSED_FIRINGS, (rows) => {
    for (const { incident_id, receiver } of rows) if (repaired.has(receiver)) found.add(incident_id)
    return rows.every(({ created_at }) => created_at >= oldest)
  })
  let left: ReadonlyArray<IncidentId> = Array.from(found)
  while (left.length > 0)
    left = (yield* commits.transact(evaluateIncidents(incidents, left, { repaired }))).left
})

/** Makes the loop that repairs receivers soon after they were found to work, all at once. */
export const makeRepairs = (repair: (repaired: RepairedReceivers) => ReturnType<typeof repairReceivers>) => {
  const isAny = Latch.makeUnsafe()
  let working = new Map<NotifierName, { readonly at: Instant.Instant; readonly by: "attempt" | "change" }>()
  const round = Effect.gen(function* () {
    yield* isAny.await
    const repaired = working
    working = new Map()
    isAny.closeUnsafe()
    yield* Effect.onError(repair(repaired), () =>
      Effect.sync(() => {
        working = new Map([...repaired, ...working])
        isAny.openUnsafe()
      }),
    )
    yield* Effect.sleep(EVALUATE_EVERY)
  })
  return {
    run: keepRepeating(
      round,
      "cannot look for refused firings; the search resumes when the storage recovers",
    ),
    /** A receiver works; a change counts for more than an attempt. */
    works: (receiver: NotifierName, by: "attempt" | "change", at: Instant.Instant): void => {
      working.set(receiver, { at, by: working.get(receiver)?.by === "change" ? "change" : by })
      isAny.openUnsafe()
    },
  }
}
