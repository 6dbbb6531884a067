import type { Duration } from "effect"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { FoundRunbook } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Decision, LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { asChanged, type Asked, find, findOnce, type LoudMember } from "../../kernel/unitOfWork/Search.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isFiring, isFiringOrReplaced, isRetried, type OutboxRecord } from "../model/OutboxRecord.ts"
import { compilePolicy, isOfAgent, type Policy } from "../policy/compilePolicy.ts"
import { readOpenings } from "./readOpenings.ts"
import { defaultRules } from "../../kernel/ports/RuleSettings.ts"
import type { FiringFacts } from "./FiringFacts.ts"
import { decideHolds, retryHolds } from "./decideHolds.ts"
import {
  matchedFacts,
  MOST_MEMBERS,
  EVALUATED_TOGETHER,
  type LoudFacts,
  loudFacts,
  piecesOf,
  readLoudMembers,
} from "./loudMembers.ts"
import { firstDue, type IncidentNaming, nameReceivers } from "./nameReceivers.ts"
import { type PresentOnCall, readOnCall } from "./namedRotas.ts"
import { type Hold, type Holds, canBeHeld, NO_HOLDS } from "./Hold.ts"
import { activeMutes, type Mutes, mutingHolds, quietReceivers } from "./mutes.ts"
import { NO_PARENTS, readParents } from "./parents.ts"
import { hasTwice, needsAll, withTwice } from "./twiceParents.ts"
import { outageGraceAt } from "../liveness/outage.ts"

export interface FiringOptions {
  /** The policy in force; each decision reads it once. */
  readonly policy: () => Policy
  /** Since when it is in force here; absent where no step is decided. */
  readonly policySince?: ((now: Instant.Instant) => Instant.Instant) | undefined
  /** After this silence of the service, its return is the end of an outage. */
  readonly staleAfter: Duration.Duration
}

/** Without a policy: acknowledgements and silences hold. */
export const WITHOUT_POLICY: FiringOptions = {
  policy: () => NO_POLICY,
  staleAfter: defaultRules.staleAfter,
}
const NO_POLICY = compilePolicy({}, [])

interface GatherOptions extends FiringOptions {
  /** Reads these instead of the silences in force, which must be among them if an incident is open. */
  readonly spanOfSilences?: Asked<"silencesInForce">
  /** These instead of the silences and windows in force. */
  readonly mutes?: Mutes
  /** Whether facts of later moments are needed, at which other windows may be in force. */
  readonly looksAhead?: boolean
}

/** The holds on the firings of some incidents at a moment. */
interface GatheredHolds {
  /** Those in force, or of the span that was asked for. */
  readonly silences: ReadonlyArray<SilenceRecord>
  /** The silences and windows that cover one of these incidents. */
  readonly covering: (incident: IncidentRecord) => ReadonlyArray<Hold>
  /** The holds of a firing of one of these incidents that is due; none of one that cannot be held. */
  readonly onDue: (incident: IncidentRecord, item: OutboxRecord) => Holds
  /** The worst loud member of one of these incidents, if it is open. */
  readonly worstOf: (incident: IncidentRecord) => LoudMember | undefined
  /** The runbook of its check. */
  readonly runbookOf: (incident: IncidentRecord) => FoundRunbook | undefined
}

/** The facts about the firings of some incidents at a moment. */
export interface Gathered extends GatheredHolds {
  readonly facts: (incident: IncidentRecord, items: ReadonlyArray<OutboxRecord>) => FiringFacts
  /** The same as they are at a later moment if nothing happens until then: silences, windows and quiet hours. */
  readonly factsAt: (facts: FiringFacts, at: Instant.Instant) => FiringFacts
  /** The holds of a firing for a receiver that knows nothing of one of these incidents. */
  readonly onNew: (incident: IncidentRecord) => ReadonlyArray<Hold>
}

/** Reads the silences in force, and the facts that hold the incidents. Locks nothing. */
function* compareNow(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { looksAhead = false, mutes: given, policy: policyInForce, spanOfSilences, staleAfter }: GatherOptions,
  now: Instant.Instant,
) {
  const policy = policyInForce()
  const { serviceHeartbeat, silences } = yield* find(
    "silencesInForce",
    spanOfSilences ?? { endingAfter: now },
  )
  const mutes = given ?? activeMutes(policy, silences, now)
  const quiet = quietReceivers(policy, now)
  const open = distinct(incidents.filter(({ state }) => state === "open"))
  const seen = yield* compareOpen(unit, open, { policy, mutes, looksAhead })
  const parents = yield* readParents(unit, seen, policy.dependencies, staleAfter, now)
  const covering = ({ id }: IncidentRecord) => seen.get(id)?.covering ?? []
  const muting = (incident: IncidentRecord) => ({
    incident,
    covering: covering(incident),
    parents: withTwice(
      incident,
      seen.get(incident.id)?.present ?? [],
      parents.get(incident.id) ?? NO_PARENTS,
    ),
    quiet,
  })
  const gathered: GatheredHolds = {
    covering,
    silences,
    worstOf: ({ id }) => seen.get(id)?.worst,
    runbookOf: ({ id }) => seen.get(id)?.runbook(),
    onDue: (incident, item) => {
      if (incident.state !== "open") return NO_HOLDS
      if (isRetried(item)) return { inForce: retryHolds(incident, item, now), past: [] }
      if (!canBeHeld(item)) return NO_HOLDS
      return decideHolds(muting(incident), { receivers: [item.receiver], row: item }, now)
    },
  }
  return { gathered, graceUntil: outageGraceAt(serviceHeartbeat, now, staleAfter), muting, policy, seen }
}

/** Reads the facts that hold firings whose receivers are named already. Locks nothing. */
export function* gatherDue(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  options: GatherOptions,
  now: Instant.Instant,
): LoneDecision<GatheredHolds> {
  return (yield* compareNow(unit, incidents, options, now)).gathered
}

/** Reads the facts that name receivers and hold their firings. Locks nothing. */
export function* gatherFacts(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  options: GatherOptions,
  now: Instant.Instant,
): LoneDecision<Gathered> {
  const { gathered, graceUntil, muting, policy, seen } = yield* compareNow(unit, incidents, options, now)
  const { hasLaterSteps, hasRoutes, receivers } = policy
  const policySince = options.policySince?.(now)
  const onCall = yield* readOnCall(unit, policy, now)
  return {
    ...gathered,
    facts: (incident, items) => {
      const withReplaced = items.filter(isFiringOrReplaced)
      return {
        ...muting(incident),
        firings: withReplaced.filter(isFiring),
        withReplaced,
        naming: seen.get(incident.id)?.naming({ ...onCall, firings: withReplaced }),
        graceUntil,
        receivers,
        hasRoutes,
        hasLaterSteps,
        policySince,
      }
    },
    factsAt: (facts, at) => {
      const compared = seen.get(facts.incident.id)
      const present = activeMutes(policy, gathered.silences, at)
      const { naming, withReplaced } = facts
      const then = { ...onCall, firings: withReplaced, now: at }
      return {
        ...facts,
        covering: compared === undefined ? [] : mutingHolds(present, compared.loud),
        naming: policy.rotas === undefined ? naming : compared?.naming(then),
        quiet: quietReceivers(policy, at),
      }
    },
    onNew: (incident) => {
      if (incident.state !== "open") return []
      const naming = seen.get(incident.id)?.naming({ ...onCall, firings: [] })
      const due = naming && (firstDue(incident, naming, now) ?? incident.opened_at)
      const after = due !== undefined && now < due ? due : undefined
      const named = naming?.named.keys() ?? []
      return decideHolds(muting(incident), { receivers: named, due, after }, now).inForce
    },
  }
}

/**
 * The holds of a firing that an event writes now, given when its delay ends if it has one. Reads what the
 * transaction leaves, and nothing but silences where neither these nor the policy may hold it. Locks nothing.
 */
export function* gatherHolds(
  unit: UnitOfWork,
  incident: IncidentRecord,
  policy: Policy,
  { now, staleAfter }: { readonly now: Instant.Instant; readonly staleAfter: Duration.Duration },
): Decision<(receiver: NotifierName, due: Instant.Instant | undefined) => Holds> {
  const stored = yield* findOnce(unit, "silencesEndingAfter", now)
  const mutes = activeMutes(policy, asChanged(stored, unit.keyed.changesOf("silence")), now)
  const { dependencies } = policy
  let covering: ReadonlyArray<Hold> = []
  let parents = NO_PARENTS
  if (mutes.mutes.length > 0 || dependencies !== undefined || hasTwice(unit, incident)) {
    const readsLabels = policy.holdsReadAgents || mutes.mutes.some(({ matchers }) => matchers.some(isOfAgent))
    const members = yield* readLoudMembers(unit, [incident], { limit: MOST_MEMBERS, readsLabels })
    const present = members.get(incident.id) ?? []
    const loud = loudFacts(incident, present)
    covering = mutingHolds(mutes, loud)
    const seen = new Map([[incident.id, { incident, loud }]])
    const found = yield* readParents(unit, seen, dependencies, staleAfter, now)
    parents = withTwice(incident, present, found.get(incident.id) ?? NO_PARENTS)
  }
  const facts = { covering, incident, parents, quiet: quietReceivers(policy, now) }
  // Whether a delay that is over fell into an outage, the evaluation decides.
  return (receiver, due) => decideHolds(facts, { receivers: [receiver], due, after: due }, now)
}

/** An open incident with the decisions that its loud members lead to; a claim needs few of them. */
interface Compared {
  readonly incident: IncidentRecord
  readonly loud: LoudFacts
  readonly present: ReadonlyArray<LoudMember>
  readonly naming: (facts: PresentOnCall) => IncidentNaming | undefined
  readonly covering: ReadonlyArray<Hold>
  readonly worst: LoudMember | undefined
  readonly runbook: () => FoundRunbook | undefined
}

/** Reads the loud members of open incidents, and compares them with a policy and the mutes in force. */
function* compareOpen(
  unit: UnitOfWork,
  open: ReadonlyArray<IncidentRecord>,
  { looksAhead, mutes, policy }: { policy: Policy; mutes: Mutes; looksAhead: boolean },
): Decision<ReadonlyMap<IncidentId, Compared>> {
  const found = new Map<IncidentId, Compared>()
  const openings = yield* readOpenings(unit, open, policy)
  const { dependencies, hasRoutes, windows } = policy
  const mayBeMuted = mutes.mutes.length > 0 || (looksAhead && windows.length > 0)
  const limit = mayBeMuted || hasRoutes || dependencies !== undefined ? MOST_MEMBERS : 1
  for (const piece of piecesOf(open, EVALUATED_TOGETHER)) {
    const worst = yield* readLoudMembers(unit, piece, { limit })
    const isPart = limit < MOST_MEMBERS && piece.some((one) => needsAll(unit, one, worst.get(one.id)?.[0]))
    const members = isPart ? yield* readLoudMembers(unit, piece, { limit: MOST_MEMBERS }) : worst
    for (const incident of piece) {
      const present = members.get(incident.id) ?? []
      const loud = loudFacts(incident, present)
      found.set(incident.id, {
        incident,
        loud,
        present,
        naming: (facts) => nameReceivers(policy, incident, present, openings(incident), facts),
        covering: mutingHolds(mutes, loud),
        worst: present[0],
        runbook: () => runbookOf(policy, incident, present),
      })
    }
  }
  return found
}

const runbookOf = (policy: Policy, incident: IncidentRecord, [worst]: ReadonlyArray<LoudMember>) =>
  worst && policy.runbookOf(matchedFacts(incident, worst.member, worst.agent, worst.labels), worst.labels)

/** Reads the runbooks of open incidents alone. Locks nothing. */
export function* readRunbooks(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  policy: Policy,
): Decision<Gathered["runbookOf"]> {
  const open = distinct(incidents.filter(({ state }) => state === "open"))
  const members = yield* readLoudMembers(unit, open, { limit: 1 })
  const runbooks = new Map(
    open.map((incident) => [incident.id, runbookOf(policy, incident, members.get(incident.id) ?? [])]),
  )
  return ({ id }) => runbooks.get(id)
}

const distinct = (incidents: ReadonlyArray<IncidentRecord>): ReadonlyArray<IncidentRecord> =>
  Array.from(new Map(incidents.map((incident) => [incident.id, incident])).values())
