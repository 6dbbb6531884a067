import { AgentKeyTransitions, AgentTransitions } from "@tocsin/core/heart/model/AgentRecord"
import type { Transition } from "@tocsin/contract/formats/TransitionTable"
import { CheckTransitions } from "@tocsin/core/heart/model/CheckRecord"
import * as Instant from "@tocsin/contract/formats/Instant"
import { IncidentTransitions } from "@tocsin/core/heart/model/IncidentRecord"
import { OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import type { Observation } from "./Action.ts"
import { membersEver, moved, type Moved } from "../service/Rows.ts"

/** A move of one row's state. */
export interface StateMove {
  readonly table: ReadonlyArray<Transition>
  /** For messages. */
  readonly row: string
  readonly from: string
  readonly to: string
  /** The triggers that match an observation. */
  readonly triggers: ReadonlySet<string>
  /** Whether nothing changed that only a transition may change. */
  readonly isRefresh: boolean
}

/** Decides for each trigger of a table whether it matches an observation. */
type Signs<Table extends ReadonlyArray<Transition>> = Readonly<Record<Table[number]["trigger"], boolean>>

const setOf = (signs: Readonly<Record<string, boolean>>): ReadonlySet<string> =>
  new Set(Object.keys(signs).filter((trigger) => signs[trigger] === true))

/** Whether a row changed in nothing but these fields. */
const onlyChanged = <Row extends object>(
  { before, after }: Moved<Row>,
  fields: ReadonlyArray<keyof Row>,
): boolean => {
  if (before === undefined || after === undefined) return false
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Row>
  return Array.from(names).every((name) => before[name] === after[name] || fields.includes(name))
}

const is = ({ action }: Observation, ...names: ReadonlyArray<typeof action.action>): boolean =>
  names.includes(action.action)

const keyMoves = (observed: Observation): ReadonlyArray<StateMove> =>
  moved(observed.before.keys, observed.after.keys).flatMap((row) => {
    const { before, after } = row
    const key = after ?? before
    if (key === undefined) return []
    const { now, rules } = observed
    const isAgentGone = observed.before.agents.has(key.agent_id) && !observed.after.agents.has(key.agent_id)
    const silentSince = Instant.minus(now, rules.pendingKeySilence)
    const signs: Signs<typeof AgentKeyTransitions> = {
      registered: is(observed, "heartbeat"),
      preseeded: is(observed, "heartbeat") && rules.acceptFingerprints.has(key.key_fingerprint),
      integrated: false,
      enrolled: false,
      accepted: is(observed, "accept", "accept_all"),
      blocked: is(observed, "block", "block_all"),
      forgotten: is(observed, "heartbeat") && key.last_seen_at <= silentSince,
      agent_removed: is(observed, "remove", "remove_all", "block", "block_all") && isAgentGone,
      superseded:
        is(observed, "accept", "accept_all", "heartbeat") &&
        Array.from(observed.after.keys.values()).some(
          (other) => other.agent_id === key.agent_id && other.state === "accepted",
        ),
      unblocked: is(observed, "unblock", "unblock_all"),
    }
    return {
      table: AgentKeyTransitions,
      row: `agent key ${key.key_fingerprint}`,
      from: before?.state ?? "absent",
      to: after?.state ?? "absent",
      triggers: setOf(signs),
      isRefresh: is(observed, "heartbeat") && onlyChanged(row, ["last_seen_at"]),
    }
  })

const agentMoves = (observed: Observation): ReadonlyArray<StateMove> =>
  moved(observed.before.agents, observed.after.agents).map((row) => {
    const { before, after } = row
    const hasAnotherKey =
      after?.accepted_key_hash !== undefined && after.accepted_key_hash !== before?.accepted_key_hash
    const isAccepted =
      typeof observed.reply === "object" && "accepted" in observed.reply && observed.reply.accepted === true
    const signs: Signs<typeof AgentTransitions> = {
      registered: is(observed, "heartbeat") && !isAccepted,
      preseeded: is(observed, "heartbeat") && isAccepted,
      integrated: false,
      key_accepted: is(observed, "accept", "accept_all", "heartbeat") && hasAnotherKey,
      removed: is(observed, "remove", "remove_all", "block", "block_all"),
    }
    return {
      table: AgentTransitions,
      row: `agent ${(after ?? before)?.agent_id}`,
      from: before?.admission_state ?? "absent",
      to: after?.admission_state ?? "absent",
      triggers: setOf(signs),
      isRefresh: !hasAnotherKey && onlyChanged(row, REFRESHED_OF_AGENT),
    }
  })

const REFRESHED_OF_AGENT = [
  "hostname",
  "features",
  "labels",
  "observed_at",
  "last_seen_at",
  "reachable_from",
  "pending_key_hash",
  "key_fingerprint",
  "heartbeat_incident_id",
  "process",
  "former_processes",
  "twice_at",
  "checks_ok",
  "checks_warning",
  "checks_critical",
  "checks_unknown",
] as const

const checkMoves = (observed: Observation): ReadonlyArray<StateMove> =>
  moved(observed.before.checks, observed.after.checks).flatMap((row) => {
    const { before, after } = row
    // A deleted agent's checks are gone with it: that is a move of the agent.
    if (after === undefined) return []
    const { action } = observed
    const events =
      action.action === "events" && action.request.agent_id === after.agent_id ? action.request.events : []
    const reported = events.filter((event) => event.check_id === after.check_id)
    return {
      table: CheckTransitions,
      row: `check ${after.agent_id}/${after.check_id}`,
      from: before?.status ?? "absent",
      to: after.status,
      triggers: new Set(reported.map((event) => `reported_${event.status}`)),
      isRefresh: onlyChanged(row, ["last_observed_at", "received_at", "summary", "seen_event_ids"]),
    }
  })

const incidentMoves = (observed: Observation): ReadonlyArray<StateMove> =>
  moved(observed.before.incidents, observed.after.incidents).map((row) => {
    const { before, after } = row
    const id = (after ?? before)?.id ?? ""
    const members = membersEver(observed.after, id)
    const membersBefore = new Map(
      membersEver(observed.before, id).map((member) => [`${member.agent_id}/${member.check_id}`, member]),
    )
    const changed = members.filter(
      (member) => membersBefore.get(`${member.agent_id}/${member.check_id}`) !== member,
    )
    const signs: Signs<typeof IncidentTransitions> = {
      member_joined:
        is(observed, "events", "sweep") && changed.some((member) => member.joined_at === observed.now),
      member_changed:
        is(observed, "events") &&
        changed.some(
          (member) =>
            membersBefore.get(`${member.agent_id}/${member.check_id}`)?.change_seq !== member.change_seq,
        ),
      member_left: changed.some((member) => member.left_at === observed.now),
      last_member_left:
        changed.some((member) => member.left_at === observed.now) &&
        members.every((member) => member.left_at !== undefined),
    }
    return {
      table: IncidentTransitions,
      row: `incident ${(after ?? before)?.incident_key}`,
      from: before?.state ?? "absent",
      to: after?.state ?? "absent",
      triggers: setOf(signs),
      isRefresh: before?.state === "open" && onlyChanged(row, ["summary"]),
    }
  })

const outboxMoves = (observed: Observation): ReadonlyArray<StateMove> =>
  moved(observed.before.outbox, observed.after.outbox).map(({ before, after }) => {
    const item = after ?? before
    const incidentBefore = observed.before.incidents.get(item?.incident_id ?? "")
    const incident = observed.after.incidents.get(item?.incident_id ?? "")
    const hasResolved = incident?.state === "resolved" && incidentBefore?.state !== "resolved"
    const isFiring = item?.event_type === "firing"
    const { action } = observed
    const delivered = action.action === "deliver" ? action.trigger : undefined
    const signs: Signs<typeof OutboxTransitions> = {
      enqueued: isFiring ? is(observed, "events", "sweep") : hasResolved,
      claimed: delivered === "claimed",
      incident_resolved: is(observed, "events", "heartbeat") && isFiring && hasResolved,
      followed: is(observed, "events", "heartbeat") && after?.next_attempt_at === observed.now,
      // Nobody acts in these scenarios, so nothing is held.
      held: false,
      hold_ended: false,
      // No receiver is a messenger of a policy.
      gathered: false,
      released: false,
      coalesced: false,
      unnamed: false,
      firing_refused: delivered === "refused" && !isFiring,
      agent_gone: is(observed, "remove", "remove_all", "block", "block_all") && isFiring && hasResolved,
      notifier_gone: delivered === "notifier_gone",
      delivered: delivered === "delivered",
      // No receiver is a shadow.
      shadowed: false,
      deferred: delivered === "deferred",
      refused: delivered === "refused",
      // Nothing is claimed ahead.
      withdrawn: false,
      replayed: delivered === "replayed",
      // No receiver sends mails.
      bounced: false,
    }
    return {
      table: OutboxTransitions,
      row: `outbox item ${item?.notifier} ${item?.event_type}`,
      from: before?.state ?? "absent",
      to: after?.state ?? "absent",
      triggers: setOf(signs),
      isRefresh: false,
    }
  })

/** The moves of state that an action made in each row that it changed. */
export const stateMoves = (observed: Observation): ReadonlyArray<StateMove> => [
  ...keyMoves(observed),
  ...agentMoves(observed),
  ...checkMoves(observed),
  ...incidentMoves(observed),
  ...outboxMoves(observed),
]

/**
 * The rows of its table that a move consists of, at most `longest` of them; none for a refresh.
 * `undefined` where the table does not allow it.
 */
export const explain = (move: StateMove, longest: number): ReadonlyArray<Transition> | undefined => {
  const fitting = move.table.filter((row) => move.triggers.has(row.trigger))
  let paths: ReadonlyArray<ReadonlyArray<Transition>> = fitting
    .filter((row) => row.from === move.from)
    .map((row) => [row])
  for (let length = 1; length <= longest; length++) {
    const found = paths.find((path) => path.at(-1)?.to === move.to)
    if (found !== undefined) return found
    // Of the ways to one state one is enough.
    const ends = new Map(paths.map((path) => [path.at(-1)?.to, path]))
    paths = Array.from(ends.values()).flatMap((path) =>
      fitting.filter((row) => row.from === path.at(-1)?.to).map((row) => [...path, row]),
    )
  }
  return move.isRefresh ? [] : undefined
}
