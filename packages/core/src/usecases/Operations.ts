import { Context, Effect, Layer } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { type AgentNotFound, agentNotFound } from "../admission/AdmissionErrors.ts"
import type { CheckAvailability } from "@tocsin/contract/Availability"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { Page } from "../engine/lists/readPage.ts"
import { type AvailabilityQuery, readAvailability } from "./readAvailability.ts"
import { currentSignature, type Signature } from "../audit/Signature.ts"
import { type CheckActionOutcome, removeCheck, resetClock } from "../checks/checkActions.ts"
import type { CheckName } from "../model/CheckRecord.ts"
import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Command } from "../engine/unitOfWork/Decision.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { STORY_CHANGES } from "../model/IncidentRecord.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { release, type ReleaseOutcome, replay, type ReplayOutcome } from "../notifications/release.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { LinkTokens } from "../ports/LinkTokens.ts"
import type { TestReceipt } from "../ports/Notifiers.ts"
import { RuleSettings, type RuleOptions } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { servedReceivers } from "../replicas/listings.ts"
import { acknowledging, noSuchIncident } from "./acknowledging.ts"
import { explain, type Explanation } from "./explain.ts"
import { heldLists } from "./heldLists.ts"
import type { HeldTimeline } from "./toResources.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"
import { silencing } from "./silencing.ts"
import { type FollowedLink, followLink } from "../acknowledgements/followLink.ts"
import type { AuditId } from "@tocsin/contract/Audit"
import { acknowledgesFor } from "../notifications/messageLinks.ts"
import type { Policy } from "../policy/compilePolicy.ts"

/** A request at a link. */
interface LinkRequest {
  readonly token: string
  /** Whether to acknowledge; otherwise nothing changes. */
  readonly isPressed: boolean
  readonly requestId: string
}

interface Following extends Pick<RuleOptions, "longestAcknowledgement"> {
  readonly transact: Commits["Service"]["transact"]
  readonly ids: Ids["Service"]
  readonly tokens: LinkTokens | undefined
  readonly policy: () => Policy
}

/** Links in messages (docs/rules.md#links). */
const followingLinks = ({ ids, longestAcknowledgement, policy, tokens, transact }: Following) => ({
  /** Shows what the link of a message is about, or acknowledges it. Fails if no message has the token. */
  followLink: Effect.fn("Operations.followLink")(function* ({
    isPressed,
    requestId,
    token,
  }: LinkRequest): Effect.fn.Return<FollowedLink, NotFound | StorageError> {
    const id = tokens?.idOf(token)
    if (id === undefined) return yield* new NotFound({ message: "no message has this link" })
    const inForce = policy()
    const input = {
      id,
      isPressed,
      lengthOf: (receiver: string) => acknowledgesFor(inForce, receiver, longestAcknowledgement),
    }
    const by = { via: "link", request_id: requestId, newAuditId: newId<AuditId>(ids) } as const
    return yield* transact(followLink(input, by))
  }),
})

// An incident can have ten thousand members; its page shows the worst of them, and all stored
// changes. Who comes next depends on more notifications than it shows.
const STORY = { members: 200, changes: STORY_CHANGES, log: 200, outbox: 1_000 }

const noSuchCheck = () =>
  new NotFound({
    message: "this agent has no such check; list its checks with GET /api/v1/checks?agent_id=…",
  })

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

/** Operators' actions beyond the contract (/ops/v1, docs/rules.md#events, docs/rules.md#outbox). */
export class Operations extends Context.Service<
  Operations,
  ReturnType<typeof acknowledging> &
    ReturnType<typeof followingLinks> &
    Omit<ReturnType<typeof heldLists>, "withOutlook"> &
    ReturnType<typeof silencing> & {
      /**
       * Returns a failed outbox item to the outbox. Fails if it does not exist, has not failed, or is
       * too old.
       */
      readonly replay: (
        id: OutboxId,
      ) => Effect.Effect<ActionCountResponse, NotFound | StateConflict | StorageError>
      /** Sends a held firing now. Fails if it does not exist or is not held. */
      readonly release: (
        id: OutboxId,
      ) => Effect.Effect<ActionCountResponse, NotFound | StateConflict | StorageError>
      /** Sends a test message now and returns the receiver's answer. */
      readonly testNotifier: (receiver: NotifierName) => Effect.Effect<TestReceipt, NotFound>
      /** Releases a check frozen by a clock in the future. */
      readonly resetClock: (
        check: CheckName,
      ) => Effect.Effect<ActionCountResponse, AgentNotFound | NotFound | StorageError>
      /** Deletes one check; it leaves its incident. */
      readonly removeCheck: (
        check: CheckName,
      ) => Effect.Effect<ActionCountResponse, AgentNotFound | NotFound | StorageError>
      /**
       * One incident with its worst members, latest changes and notifications, at most 200 of each.
       */
      readonly incident: (id: IncidentId) => Effect.Effect<HeldTimeline, NotFound | StorageError>
      /** A page of checks with how long each was in each state (docs/rules.md#availability). */
      readonly availability: (
        parameters: AvailabilityQuery,
      ) => Effect.Effect<Page<CheckAvailability>, StorageError | ValidationError>
      /** Explains a check's state. */
      readonly explain: (
        check: CheckName,
      ) => Effect.Effect<Explanation, AgentNotFound | NotFound | StorageError>
    }
>()("@tocsin/core/usecases/Operations") {
  static readonly layer = Layer.effect(
    Operations,
    Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      const receivers = yield* Receivers
      const rules = yield* RuleSettings
      const { sha256 } = yield* Hashing
      const ids = yield* Ids
      const policy = yield* PolicyInForce
      const options = incidentOptions(ids, policy, rules)
      const signature = currentSignature(ids)

      const lists = heldLists({ storage, commits, sha256, options })

      const onCheck = Effect.fnUntraced(function* (command: (by: Signature) => Command<CheckActionOutcome>) {
        const result = yield* commits.transact(command(yield* signature))
        if (result.outcome === "done") return { count: result.count }
        return yield* result.outcome === "no_such_agent" ? agentNotFound() : noSuchCheck()
      })

      return Operations.of({
        availability: (parameters) => readAvailability(storage, sha256, policy, parameters),
        ...acknowledging(commits, rules, signature),
        ...followingLinks({
          ids,
          tokens: yield* LinkTokens,
          policy: policy.current,
          transact: commits.transact,
          longestAcknowledgement: rules.longestAcknowledgement,
        }),
        incidents: lists.incidents,
        outbox: lists.outbox,
        ...silencing({ storage, commits, ids, rules, signature }),
        replay: Effect.fn("Operations.replay")(function* (id) {
          const outcome = yield* commits.transact(replay(id, yield* signature))
          return outcome === "replayed" ? { count: 1 } : yield* REPLAY_REFUSED[outcome]
        }),
        release: Effect.fn("Operations.release")(function* (id) {
          const outcome = yield* commits.transact(release(id, options, yield* signature))
          return outcome === "released" ? { count: 1 } : yield* RELEASE_REFUSED[outcome]
        }),
        testNotifier: Effect.fn("Operations.testNotifier")(function* (receiver) {
          const notifier = receivers.current().get(receiver)
          if (notifier !== undefined) return yield* notifier.test
          return yield* new NotFound({
            message: `no receiver has the name ${receiver}; list receivers with GET /ops/v1/policy`,
          })
        }),
        resetClock: (check) => onCheck((by) => resetClock(check, by)),
        removeCheck: (check) => onCheck((by) => removeCheck(check, options, by)),
        incident: Effect.fn("Operations.incident")(function* (id) {
          const timeline = yield* storage.incident(id, STORY)
          if (timeline === undefined) return yield* noSuchIncident()
          const served = servedReceivers(receivers.current(), yield* storage.replicas, yield* Instant.now)
          return { ...(yield* lists.withOutlook(timeline)), served }
        }),
        explain: Effect.fn("Operations.explain")(function* (name) {
          const agent = yield* storage.agent(name.agent_id)
          if (agent === undefined) return yield* agentNotFound()
          const check = yield* storage.check(name.agent_id, name.check_id)
          if (check === undefined) return yield* noSuchCheck()
          return yield* explain(storage, { agent, check, rules })
        }),
      })
    }),
  )
}
