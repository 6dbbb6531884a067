import { firstRows, type Page, type PageParameters, readPage } from "../engine/lists/readPage.ts"
import { Context, Effect, Layer, Schema, Duration, Redacted } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { type AgentNotFound, agentNotFound } from "../admission/AdmissionErrors.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import {
  finishLocked,
  type ManyActed,
  type ManyAgents,
  type WorkOnMany,
} from "../engine/commits/lockedAgents.ts"
import * as actions from "../admission/operatorActions.ts"
import { withdrawFailing } from "../admission/removeAgent.ts"
import { currentSignature, type Signature } from "../audit/Signature.ts"
import { type AgentId, BlacklistId } from "@tocsin/contract/Identifiers"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import { CurrentInstruments, type Instruments } from "../engine/metrics/Instruments.ts"
import type { Command } from "../engine/unitOfWork/Decision.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Ids } from "../ports/Ids.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import type {
  CreateEnrolmentRequest,
  Enrolment,
  EnrolmentId,
  EnrolmentWithToken,
} from "@tocsin/contract/Enrolments"
import type { ValidationError } from "@tocsin/contract/Errors"
import * as Instant from "@tocsin/contract/Instant"
import * as decisions from "../admission/enrolments.ts"
import { enrolmentIdOf, enrolmentToken } from "../admission/enrolmentToken.ts"
import { type EnrolmentRecord, enrolmentState } from "../model/EnrolmentRecord.ts"

const USUAL_TIME = Duration.hours(1)

/** Operators' decisions about enrolments (docs/rules.md#enrolment). */
interface EnrolmentCalls {
  /** Enrolments, the newest first. */
  readonly list: (
    parameters: PageParameters,
  ) => Effect.Effect<Page<Enrolment>, ValidationError | StorageError>
  /** Creates an enrolment, and returns its token this once. */
  readonly create: (request: CreateEnrolmentRequest) => Effect.Effect<EnrolmentWithToken, StorageError>
  /** Deletes an enrolment; count 0 if there is none of this ID. */
  readonly remove: (id: EnrolmentId) => Effect.Effect<ActionCountResponse, StorageError>
}

const toEnrolment = (record: EnrolmentRecord, now: Instant.Instant): Enrolment => ({
  ...record,
  agent_id: record.agent_id ?? null,
  state: enrolmentState(record, now),
})

interface Parts {
  readonly storage: Storage["Service"]
  readonly commits: Pick<Commits["Service"], "transact">
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
}

/** Makes the calls of operators about enrolments. */
const enrolmentCalls = ({ commits, hashing, ids, storage }: Parts): EnrolmentCalls => {
  const signature = currentSignature(ids)
  return {
    list: Effect.fnUntraced(function* (parameters) {
      const query = { list: "enrolments", filter: {}, sort: "created_at", direction: "desc" } as const
      const page = yield* readPage(storage, hashing.sha256, query, parameters)
      const now = yield* Instant.now
      return { ...page, items: page.items.map((record) => toEnrolment(record, now)) }
    }),
    create: Effect.fn("Admission.createEnrolment")(function* ({
      agent_id,
      expires_in = USUAL_TIME,
      uses = 1,
    }) {
      const token = enrolmentToken(yield* Effect.sync(ids.secret))
      const now = yield* Instant.now
      const created = yield* commits.transact(
        decisions.createEnrolment(
          { id: enrolmentIdOf(hashing, token), agent_id, uses, expires_at: Instant.plus(now, expires_in) },
          yield* signature,
        ),
      )
      return { ...toEnrolment(created, now), token: Redacted.value(token) }
    }),
    remove: Effect.fn("Admission.removeEnrolment")(function* (id) {
      return { count: yield* commits.transact(decisions.removeEnrolment(id, yield* signature)) }
    }),
  }
}

/**
 * Agents per transaction of a bulk action: quick for 10,000 agents, while heartbeats in between
 * wait only milliseconds.
 */
const PIECE = 200

const hasBothKeys = ({ accepted_key_hash, pending_key_hash }: AgentRecord): boolean =>
  accepted_key_hash !== undefined && pending_key_hash !== undefined

const isBlacklistId = Schema.is(BlacklistId)

/**
 * Operators' decisions about agents and their keys (docs/rules.md#agent-keys). Those that take
 * several transactions cannot be interrupted: a client that hangs up leaves none of them half done.
 */
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
     * works in bounded pieces, returns an exact count, and skips agents that stay locked.
     */
    readonly acceptAll: (options: {
      readonly includeRotation: boolean
    }) => Effect.Effect<ManyActed, StorageError>
    /** Blocks all pending keys, replacement keys included. */
    readonly blockAll: Effect.Effect<ManyActed, StorageError>
    /** Removes all pending agents; replacement keys stay. */
    readonly removeAll: Effect.Effect<ManyActed, StorageError>
    /** Deletes one blacklist row; count 0 if there is none of this ID. */
    readonly unblock: (keyId: string) => Effect.Effect<ActionCountResponse, StorageError>
    /** Deletes all blacklist rows, in bounded pieces. */
    readonly unblockAll: Effect.Effect<ActionCountResponse, StorageError>
    /** The tokens by which agents are accepted. */
    readonly enrolments: EnrolmentCalls
  }
>()("@tocsin/core/usecases/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      const hashing = yield* Hashing
      const instruments = yield* CurrentInstruments
      const ids = yield* Ids
      const options: actions.OperatorOptions = {
        ...incidentOptions(ids, yield* PolicyInForce, yield* RuleSettings),
        blacklistIdOf: (keyHash) => BlacklistId.make(hashing.sha256(`bl1:${keyHash}`)),
      }

      const signature = currentSignature(ids)

      const one = Effect.fnUntraced(function* (command: (by: Signature) => Command<actions.ActionOutcome>) {
        const result = yield* commits.transact(command(yield* signature))
        return result.outcome === "done" ? { count: result.count } : yield* agentNotFound()
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

      const unblock = Effect.fnUntraced(function* (keyId: string) {
        // Any 64 characters are a valid key_id (docs/rules.md#lists); one that is not an ID of ours
        // matches no row.
        return isBlacklistId(keyId)
          ? { count: yield* commits.transact(actions.unblock([keyId], yield* signature)) }
          : { count: 0 }
      })

      return Admission.of({
        accept: (agentId) => one((by) => actions.accept(agentId, by)),
        block: (agentId) =>
          Effect.andThen(
            withdrawMany(agentId, (agent) => !hasBothKeys(agent)),
            one((by) => actions.block(agentId, options, by)),
          ).pipe(Effect.uninterruptible),
        remove: (agentId) =>
          Effect.andThen(
            withdrawMany(agentId, () => true),
            one((by) => actions.remove(agentId, options, by)),
          ).pipe(Effect.uninterruptible),
        acceptAll: ({ includeRotation }) =>
          all("accept_all", (by, agents) => actions.acceptEach(agents, { by, includeRotation })),
        blockAll: all("block_all", (by, agents) => actions.blockEach(agents, options, by)),
        removeAll: all("remove_all", (by, agents) => actions.removeEach(agents, options, by)),
        unblock,
        unblockAll: Effect.flatMap(signature, (by) => unblockAll(storage, commits, by)).pipe(
          Effect.uninterruptible,
        ),
        enrolments: enrolmentCalls({ storage, commits, hashing, ids }),
      })
    }),
  )
}

interface Places {
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly instruments: Instruments
}

/** Does something to all agents with a pending key, piece by piece. */
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
  const acted: ManyActed = {
    count: count + later.count,
    ...(later.skipped > 0 && { skipped: later.skipped }),
  }
  return acted
})

const unblockAll = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  by: Signature,
) {
  let count = 0
  for (;;) {
    const rows = yield* firstRows(
      storage,
      { list: "blacklist", filter: {}, sort: "stored", direction: "desc" },
      PIECE,
    )
    if (rows.length === 0) return { count }
    count += yield* commits.transact(
      actions.unblock(
        rows.map((row) => row.blacklist_id),
        by,
      ),
    )
  }
})
