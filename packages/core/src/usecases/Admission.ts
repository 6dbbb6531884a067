import { firstRows } from "../engine/lists/readPage.ts"
import { Context, Effect, Layer, Schema } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { type AgentNotFound, agentNotFound } from "../admission/AdmissionErrors.ts"
import type { AgentRecord } from "../admission/AgentRecord.ts"
import { finishHeld, type ManyAgents, type WorkOnMany } from "../admission/heldAgents.ts"
import * as actions from "../admission/operatorActions.ts"
import { withdrawFailing } from "../admission/removeAgent.ts"
import { type AgentId, BlacklistId } from "../contract/Identifiers.ts"
import type { ActionCountResponse } from "../contract/Responses.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids } from "../ports/Ids.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"

/**
 * Agents per transaction of a bulk action: quick for 10,000 agents, while heartbeats in between
 * wait only milliseconds.
 */
const PIECE = 200

const hasBothKeys = ({ accepted_key_hash, pending_key_hash }: AgentRecord): boolean =>
  accepted_key_hash !== undefined && pending_key_hash !== undefined

const isBlacklistId = Schema.is(BlacklistId)

/** Operators' decisions about agents and their keys (docs/rules.md#agent-keys). */
export class Admission extends Context.Service<
  Admission,
  {
    /** Accepts the pending key of one agent. Idempotent: count 0 if none is pending. */
    readonly accept: (agentId: AgentId) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
    /**
     * Blocks the pending key of one agent, or else its accepted one. Deletes an agent without a
     * usable key. Not idempotent.
     */
    readonly block: (agentId: AgentId) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
    /**
     * Deletes one agent with everything it owns. If more than 200 of its checks fail, removes these
     * first, in bounded pieces.
     */
    readonly remove: (agentId: AgentId) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
    /**
     * Accepts all pending agents, on request also replacement keys. Like the actions below, it
     * works in bounded pieces, returns an exact count, and skips agents that another session locks.
     */
    readonly acceptAll: (options: {
      readonly includeRotation: boolean
    }) => Effect.Effect<ActionCountResponse, StorageError>
    /** Blocks all pending keys, replacement keys included. */
    readonly blockAll: Effect.Effect<ActionCountResponse, StorageError>
    /** Removes all pending agents; replacement keys stay. */
    readonly removeAll: Effect.Effect<ActionCountResponse, StorageError>
    /** Deletes one blacklist row; count 0 if there is none of this ID. */
    readonly unblock: (keyId: string) => Effect.Effect<ActionCountResponse, StorageError>
    /** Deletes all blacklist rows, in bounded pieces. */
    readonly unblockAll: Effect.Effect<ActionCountResponse, StorageError>
  }
>()("@tocsin/core/usecases/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      const hashing = yield* Hashing
      const instruments = yield* CurrentInstruments
      const options: actions.OperatorOptions = {
        ...incidentOptions(yield* Ids, yield* PolicyInForce),
        blacklistIdOf: (keyHash) => BlacklistId.make(hashing.sha256(`bl1:${keyHash}`)),
      }

      const one = Effect.fnUntraced(function* (command: Command<actions.ActionOutcome>) {
        const result = yield* commits.transact(command)
        return result.outcome === "done" ? { count: result.count } : yield* agentNotFound()
      })

      const withdrawMany = (agentId: AgentId, isLeaving: (agent: AgentRecord) => boolean) =>
        withdrawFailing(storage, commits, { agentId, isLeaving, incidents: options, piece: PIECE })

      const onAllPending = Effect.fnUntraced(function* (
        name: ManyAgents,
        piece: (agentIds: ReadonlyArray<AgentId>) => Command<WorkOnMany>,
      ) {
        let count = 0
        const held: Array<AgentId> = []
        let after: AgentId | undefined
        do {
          const agentIds: ReadonlyArray<AgentId> = yield* storage.agentsWithPendingKey(after, PIECE)
          if (agentIds.length > 0) {
            const result = yield* commits.transact(piece(agentIds))
            count += result.count
            held.push(...result.held)
          }
          after = agentIds.at(-1)
        } while (after !== undefined)
        const finish = finishHeld(commits, { name, piece, limit: PIECE }, held)
        count += yield* Effect.provideService(finish, CurrentInstruments, instruments)
        return { count }
      })

      const unblock = Effect.fnUntraced(function* (keyId: string) {
        // Any 64 characters are a valid key_id (docs/rules.md#lists); one that is not an ID of ours
        // matches no row.
        return isBlacklistId(keyId)
          ? { count: yield* commits.transact(actions.unblock([keyId])) }
          : { count: 0 }
      })

      return Admission.of({
        accept: (agentId) => one(actions.accept(agentId)),
        block: (agentId) =>
          Effect.andThen(
            withdrawMany(agentId, (agent) => !hasBothKeys(agent)),
            one(actions.block(agentId, options)),
          ),
        remove: (agentId) =>
          Effect.andThen(
            withdrawMany(agentId, () => true),
            one(actions.remove(agentId, options)),
          ),
        acceptAll: ({ includeRotation }) =>
          onAllPending("accept_all", (ids) => actions.acceptEach(ids, includeRotation)),
        blockAll: onAllPending("block_all", (ids) => actions.blockEach(ids, options)),
        removeAll: onAllPending("remove_all", (ids) => actions.removeEach(ids, options)),
        unblock,
        unblockAll: unblockAll(storage, commits),
      })
    }),
  )
}

const unblockAll = Effect.fnUntraced(function* (storage: Storage["Service"], commits: Commits["Service"]) {
  let count = 0
  for (;;) {
    const rows = yield* firstRows(
      storage,
      { list: "blacklist", filter: {}, sort: "stored", direction: "desc" },
      PIECE,
    )
    if (rows.length === 0) return { count }
    count += yield* commits.transact(actions.unblock(rows.map((row) => row.blacklist_id)))
  }
})
