import { Context, Effect, Layer } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { agentNotFound } from "../admission/AdmissionErrors.ts"
import { firstRows } from "../engine/lists/readPage.ts"
import { type AvailabilityQuery, readAvailability } from "./readAvailability.ts"
import { type Signature, signing } from "../audit/Signature.ts"
import { type CheckActionOutcome, removeCheck, resetClock } from "../checks/checkActions.ts"
import type { CheckName, CheckRecord } from "../model/CheckRecord.ts"
import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { AgentStatus, NotifierName } from "@tocsin/contract/Status"
import type { Command } from "../unitOfWork/Decision.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { STORY_CHANGES } from "../model/IncidentRecord.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { release, type ReleaseOutcome, replay, type ReplayOutcome } from "../notifications/release.ts"
import { resolveCheck } from "../integrations/resolveCheck.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { AgentDownload } from "../ports/AgentDownload.ts"
import { Hashing, LinkTokens } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { refusedHere } from "../ports/Notifiers.ts"
import { type RuleOptions, RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { servedReceivers } from "../replicas/listedReceivers.ts"
import { acknowledging } from "./acknowledging.ts"
import { announcing } from "./announcing.ts"
import { heldLists } from "./heldLists.ts"
import { noSuch, NotFound, StateConflict } from "./OperationErrors.ts"
import { onCallOperations } from "./onCallOperations.ts"
import { silencing } from "./silencing.ts"
import { followLink } from "../acknowledgements/acknowledge.ts"
import type { AuditId } from "@tocsin/contract/Audit"
import { acknowledgesFor } from "../notifications/messageLinks.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { clampToNow } from "../model/clampToNow.ts"
import * as resources from "./toResources.ts"

/** Links in messages (docs/rules.md#links). */
const followingLinks = Effect.gen(function* () {
  const { transact } = yield* Commits
  const tokens = yield* LinkTokens
  const policy = yield* PolicyInForce
  const { longestAcknowledgement } = yield* RuleSettings
  const newAuditId = newId<AuditId>(yield* Ids)
  return {
    /**
     * Shows what the link of a message is about, or acknowledges it if `isPressed`. Fails if no message
     * has the token.
     */
    followLink: Effect.fn("Operations.followLink")(function* ({
      isPressed,
      requestId,
      token,
    }: {
      readonly token: string
      readonly isPressed: boolean
      readonly requestId: string
    }) {
      const id = tokens?.idOf(token)
      if (id === undefined) return yield* new NotFound({ message: "no message has this link" })
      const inForce = policy.current()
      const lengthOf = (receiver: string) => acknowledgesFor(inForce, receiver, longestAcknowledgement)
      const by = { via: "link", request_id: requestId, newAuditId } as const
      return yield* transact(followLink({ id, isPressed, lengthOf }, by))
    }),
  }
})

// An incident can have ten thousand members; its page shows the worst of them, and all stored
// changes. Who comes next depends on more notifications than it shows.
const STORY = { members: 200, changes: STORY_CHANGES, log: 200, outbox: 10_000 }

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

const NOT_OF_SENDER = new StateConflict({
  message:
    "this check belongs to an agent or a watch, whose next result decides: acknowledge its incident, silence it, or delete a check that is no longer run",
})

/** The files that this server hands out, with the address at which hosts reach it (docs/rules.md#agent-downloads). */
const makeAgentDownload = Effect.gen(function* () {
  const { publicUrl: url = null } = yield* RuleSettings
  const download = yield* AgentDownload
  return download === undefined ? Effect.fail(NO_DOWNLOAD) : Effect.succeed({ url, ...download })
})

const NO_DOWNLOAD = new NotFound({
  message: "this server does not hand out the agent; unset SERVICE_AGENT_DOWNLOADS, or see docs/agent.md",
})

/** Operators' actions beyond the contract (/ops/v1, docs/rules.md#events, docs/rules.md#outbox). */
export class Operations extends Context.Service<Operations>()("@tocsin/core/usecases/Operations", {
  make: Effect.gen(function* () {
    const storage = yield* Storage
    const commits = yield* Commits
    const receivers = yield* Receivers
    const rules = yield* RuleSettings
    const { sha256 } = yield* Hashing
    const ids = yield* Ids
    const policy = yield* PolicyInForce
    const options = incidentOptions(ids, policy, rules, { sha256 })
    const signed = signing(commits, ids)
    const { withOutlook, ...lists } = heldLists({ storage, commits, receivers, sha256, options })

    const onCheck = Effect.fnUntraced(function* (
      command: (by: Signature) => Command<CheckActionOutcome | "not_of_sender">,
    ) {
      const count = yield* signed(command)
      if (typeof count === "number") return { count }
      if (count === "not_of_sender") return yield* NOT_OF_SENDER
      return yield* count === "no_such_agent" ? agentNotFound() : noSuch("check_of_agent")
    })

    return {
      ...acknowledging(signed, rules),
      ...(yield* followingLinks),
      ...lists,
      ...(yield* onCallOperations(signed)),
      agentDownload: yield* makeAgentDownload,
      ...silencing({ storage, commits, ids, rules, signed }),
      ...announcing({ commits, ids, policy, signed }),
      /** A page of checks with how long each was in each state (docs/rules.md#availability). */
      availability: (parameters: AvailabilityQuery) => readAvailability(storage, sha256, policy, parameters),
      replay: Effect.fn("Operations.replay")(function* (id: OutboxId) {
        const outcome = yield* signed((by) => replay(id, by))
        return outcome === "replayed" ? { count: 1 } : yield* REPLAY_REFUSED[outcome]
      }),
      release: Effect.fn("Operations.release")(function* (id: OutboxId) {
        const outcome = yield* signed((by) => release(id, options, by))
        return outcome === "released" ? { count: 1 } : yield* RELEASE_REFUSED[outcome]
      }),
      /** Sends a test message now and returns the receiver's answer. */
      testNotifier: Effect.fn("Operations.testNotifier")(function* (receiver: NotifierName) {
        const notifier = receivers.current().get(receiver)
        if (notifier !== undefined) return yield* notifier.test
        const reason = policy.current().unavailable?.get(receiver)
        if (reason !== undefined) return refusedHere(reason)
        return yield* new NotFound({
          message: `no receiver has the name ${receiver}; list receivers with GET /ops/v1/policy`,
        })
      }),
      /** Releases a check frozen by a clock in the future. */
      resetClock: (check: CheckName) => onCheck((by) => resetClock(check, by)),
      /** Makes a check of an integration ok by the operator. */
      resolveCheck: (check: CheckName) => onCheck((by) => resolveCheck(check, options, by)),
      /** Deletes one check; it leaves its incident. */
      removeCheck: (check: CheckName) => onCheck((by) => removeCheck(check, options, by)),
      /** One incident with its worst members, latest changes and notifications, at most 200 of each. */
      incident: Effect.fn("Operations.incident")(function* (id: IncidentId) {
        const timeline = yield* storage.incident(id, STORY)
        if (timeline === undefined) return yield* noSuch("incident")
        const served = servedReceivers(receivers.current(), yield* storage.replicas, yield* Instant.now)
        return { ...(yield* withOutlook(timeline)), served }
      }),
      explain: Effect.fn("Operations.explain")(function* (name: CheckName) {
        const agent = yield* storage.agent(name.agent_id)
        if (agent === undefined) return yield* agentNotFound()
        const check = yield* storage.check(name.agent_id, name.check_id)
        if (check === undefined) return yield* noSuch("check_of_agent")
        return yield* explain(storage, { agent, check, rules })
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Operations, Operations.make)
}

interface Subject {
  readonly agent: AgentRecord
  readonly check: CheckRecord
  readonly rules: RuleOptions
}

const NOTHING_MORE = { members: 0, changes: 0, log: 0, outbox: 0 }
// A larger skew is worth a sentence: results older than the newest one are dropped as late.
const NOTABLE_SKEW_SECONDS = 60

const explain = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { agent, check: stored, rules }: Subject,
) {
  const now = yield* Instant.now
  const check = clampToNow(stored, ["received_at"], now)
  const [last, former] = yield* firstRows(
    storage,
    {
      list: "history",
      filter: { agent_id: check.agent_id, check_id: check.check_id },
      sort: "stored",
      direction: "desc",
    },
    2,
  )
  const timeline =
    check.incident_id === undefined ? undefined : yield* storage.incident(check.incident_id, NOTHING_MORE)
  const context = { rules, serviceHeartbeat: yield* storage.serviceHeartbeat, now }
  const shown = resources.toAgent(agent, context)
  const isChange = last !== undefined && check.seen_event_ids.some((id) => id === last.event_id)
  const change = isChange ? (former === undefined ? "first" : "later") : "none"
  const skew = Instant.secondsBetween(check.last_observed_at, check.received_at)
  return {
    agent: shown,
    check: resources.toCheckState(check),
    /** One sentence each, most important first. */
    reasons: reasons(shown.status, check, change, skew),
    /** When the last applied result arrived, by the server's clock; `age_seconds` ago. */
    received_at: check.received_at,
    age_seconds: Instant.secondsBetween(check.received_at, now),
    /** Negative if the agent's clock is ahead (docs/rules.md#clocks-in-the-future). */
    skew_seconds: skew,
    /** The result that last changed (status, exit_code); null if retention removed it. */
    last_change: last === undefined ? null : resources.toStoredEvent(last),
    incident: timeline === undefined ? null : resources.toIncident(timeline.incident),
  }
})

/** How the newest result of a check relates to the stored changes. */
const CHANGES = {
  first: "It was stored as a change, the first one that is known.",
  later: "It differed from the one before and was stored as a change.",
  none: "It repeated the one before, so only its time and text were kept.",
}

const reasons = (
  status: AgentStatus,
  check: CheckRecord,
  change: keyof typeof CHANGES,
  skew: number,
): ReadonlyArray<string> => {
  const observed = Instant.momentText(check.last_observed_at)
  return [
    `The newest result, observed at ${observed}, reported ${check.status} with exit code ${check.exit_code}.`,
    CHANGES[change],
    ...(skew < -NOTABLE_SKEW_SECONDS
      ? [
          `The agent's clock was ${Math.round(-skew)} s ahead: results observed before ${observed} are dropped as late. Once its clock is right, reset-clock releases the check.`,
        ]
      : []),
    ...(status === "alive"
      ? []
      : [`The agent is ${status}: no result can have arrived since it was last seen.`]),
    ...(check.incident_id === undefined
      ? []
      : ["It is a member of an open incident, because its status is not ok."]),
  ]
}
