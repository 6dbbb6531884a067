import { Context, Effect, Layer, Schema } from "effect"
import { enrolmentOperations } from "../features/enrolment/enrolmentOperations.ts"
import { firstRows } from "../kernel/engine/lists/readPage.ts"
import type { Commits } from "../kernel/engine/commits/Commits.ts"
import { agentNotFound } from "../heart/admission/AdmissionErrors.ts"
import type { AgentRecord } from "../heart/model/AgentRecord.ts"
import { finishLocked, type ManyAgents, type WorkOnMany } from "../kernel/engine/commits/lockedAgents.ts"
import * as actions from "../heart/admission/operatorActions.ts"
import { withdrawFailing } from "../heart/admission/removeAgent.ts"
import { currentSignature, type Signature } from "../heart/audit/recordAudit.ts"
import { type AgentId, BlacklistId } from "@tocsin/contract/formats/Identifiers"
import { CurrentInstruments, type Instruments } from "../kernel/engine/metrics/Instruments.ts"
import type { Command } from "../kernel/unitOfWork/Decision.ts"
import type { Storage } from "../kernel/ports/Storage.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"

/** Agents per transaction of a bulk action: heartbeats in between wait only milliseconds. */
const PIECE = 200

const hasBothKeys = ({ accepted_key_hash, pending_key_hash }: AgentRecord): boolean =>
  accepted_key_hash !== undefined && pending_key_hash !== undefined

const isBlacklistId = Schema.is(BlacklistId)

const BLACKLIST = { list: "blacklist", filter: {}, sort: "stored", direction: "desc" } as const

/**
 * Operators' decisions about agents and their keys (docs/rules.md#agent-keys). Those that take
 * several transactions cannot be interrupted: a client that hangs up leaves none of them half done.
 */
export class Admission extends Context.Service<Admission>()("@tocsin/core/lists/Admission", {
  make: Effect.gen(function* () {
    const { commits, ids, options: incidents, sha256, signed, storage } = yield* operationPorts
    const instruments = yield* CurrentInstruments
    const options: actions.OperatorOptions = {
      ...incidents,
      blacklistIdOf: (keyHash) => BlacklistId.make(sha256(`bl1:${keyHash}`)),
    }
    const signature = currentSignature(ids)

    const one = Effect.fnUntraced(function* (name: "accept" | "block" | "remove", agentId: AgentId) {
      const count = yield* signed((by) => actions.actOnOne(name, agentId, options, by))
      return count === "no_such_agent" ? yield* agentNotFound() : { count }
    })

    const withdrawMany = (agentId: AgentId, isLeaving: (agent: AgentRecord) => boolean) =>
      Effect.flatMap(signature, (by) =>
        withdrawFailing(storage, commits, { agentId, isLeaving, incidents: options, by, piece: PIECE }),
      )

    const all = (
      name: ManyAgents,
      piece: (by: Signature, agentIds: ReadonlyArray<AgentId>) => Command<WorkOnMany>,
    ) =>
      Effect.flatMap(signature, (by) =>
        onAllPending({ commits, instruments, storage }, name, (agentIds) => piece(by, agentIds)),
      ).pipe(Effect.uninterruptible)

    return {
      /** Accepts the pending key of one agent. Idempotent: count 0 if none is pending. */
      accept: (agentId: AgentId) => one("accept", agentId),
      /**
       * Blocks the pending key of one agent, or else its accepted one. Deletes an agent without a
       * usable key. Not idempotent.
       */
      block: (agentId: AgentId) =>
        Effect.andThen(
          withdrawMany(agentId, (agent) => !hasBothKeys(agent)),
          one("block", agentId),
        ).pipe(Effect.uninterruptible),
      /** Deletes one agent with everything it owns; first its failing checks, in bounded pieces. */
      remove: (agentId: AgentId) =>
        Effect.andThen(
          withdrawMany(agentId, () => true),
          one("remove", agentId),
        ).pipe(Effect.uninterruptible),
      /**
       * Accepts all pending agents, on request also replacement keys. Like the actions below, it
       * works in bounded pieces, returns an exact count, and skips agents that stay locked.
       */
      acceptAll: ({ includeRotation }: { readonly includeRotation: boolean }) =>
        all("accept_all", (by, agents) =>
          actions.actOnEach("accept", agents, { ...options, includeRotation }, by),
        ),
      blockAll: all("block_all", (by, agents) => actions.actOnEach("block", agents, options, by)),
      /** Removes all pending agents; replacement keys stay. */
      removeAll: all("remove_all", (by, agents) => actions.actOnEach("remove", agents, options, by)),
      /** Deletes one blacklist row; count 0 if there is none of this ID. */
      unblock: Effect.fnUntraced(function* (keyId: string) {
        // Any 64 characters are a valid key_id (docs/rules.md#lists); one that is not an ID of ours
        // matches no row.
        if (!isBlacklistId(keyId)) return { count: 0 }
        return { count: yield* signed((by) => actions.unblock([keyId], by)) }
      }),
      /** Deletes all blacklist rows, in bounded pieces. */
      unblockAll: Effect.gen(function* () {
        let count = 0
        for (;;) {
          const rows = yield* firstRows(storage, BLACKLIST, PIECE)
          if (rows.length === 0) return { count }
          const keyIds = rows.map((row) => row.blacklist_id)
          count += yield* signed((by) => actions.unblock(keyIds, by))
        }
      }).pipe(Effect.uninterruptible),
      enrolments: yield* enrolmentOperations,
    }
  }),
}) {
  static readonly layer = Layer.effect(Admission, Admission.make)
}

interface Places {
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly instruments: Instruments
}

const onAllPending = Effect.fnUntraced(function* (
  { commits, instruments, storage }: Places,
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
  const finish = finishLocked(commits, { name, piece, limit: PIECE }, held)
  const later = yield* Effect.provideService(finish, CurrentInstruments, instruments)
  return { count: count + later.count, ...(later.skipped > 0 && { skipped: later.skipped }) }
})
