import { Effect } from "effect"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { release, type ReleaseOutcome, replay, type ReplayOutcome } from "../notifications/release.ts"
import type { OperationPorts } from "./operationPorts.ts"

const REPLAY_REFUSED: Record<Exclude<ReplayOutcome, "replayed">, NotFound | StateConflict> = {
  no_such_item: new NotFound({
    message: "no outbox item has this id; list failed items with GET /api/v1/notifiers/outbox?state=failed",
  }),
  not_failed: new StateConflict({
    message:
      "this outbox item has not failed, so it cannot be replayed; list failed items with GET /api/v1/notifiers/outbox?state=failed",
  }),
  firing_of_resolved: new StateConflict({
    message: "the incident of this firing has resolved, so Tocsin no longer sends the firing",
  }),
  incident_expired: new StateConflict({
    message:
      "the incident of this outbox item was deleted at the end of its retention, so there is nothing to send",
  }),
}

const RELEASE_REFUSED: Record<Exclude<ReleaseOutcome, "released">, NotFound | StateConflict> = {
  no_such_item: new NotFound({
    message: "no outbox item has this id; list held items with GET /ops/v1/outbox?held=true",
  }),
  not_held: new StateConflict({
    message: "nothing holds this outbox item; list held items with GET /ops/v1/outbox?held=true",
  }),
}

/** Operators' actions on the outbox (docs/rules.md#outbox). */
export const outboxOperations = ({ options, signed }: Pick<OperationPorts, "options" | "signed">) => ({
  replay: Effect.fn("Operations.replay")(function* (id: OutboxId) {
    const outcome = yield* signed((by) => replay(id, by))
    return outcome === "replayed" ? { count: 1 } : yield* REPLAY_REFUSED[outcome]
  }),
  release: Effect.fn("Operations.release")(function* (id: OutboxId) {
    const outcome = yield* signed((by) => release(id, options, by))
    return outcome === "released" ? { count: 1 } : yield* RELEASE_REFUSED[outcome]
  }),
})
