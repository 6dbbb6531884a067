import { Context, Effect, Layer } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type {
  SilenceId,
  SilenceChangeRequest,
  SilencePreview,
  SilenceRequest,
} from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { limitsAgents } from "@tocsin/contract/labels/matcherText"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { newId } from "../../kernel/ports/Ids.ts"
import { type OperationPorts, operationPorts } from "../../heart/usecases/operationPorts.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { createSilence, editSilence, expireSilence, silenceTimes } from "./silenceDecisions.ts"
import { NotFound, refusalError, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { toSilence } from "../../heart/model/SilenceRecord.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { ListQuery } from "../../lists/ListDefinitions.ts"
import { listReaders } from "../../kernel/engine/lists/listReaders.ts"
import { ALL_AGENTS, eachPage, PENDING_FIRINGS } from "../../kernel/engine/lists/readPage.ts"
import { loneCommandOf, type LoneDecision, readRow } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import { gatherDue, WITHOUT_POLICY } from "../../heart/firings/gatherFacts.ts"
import { EVALUATED_TOGETHER, piecesOf } from "../../heart/firings/loudMembers.ts"
import { canBeHeld } from "../../heart/firings/Hold.ts"
import type { Mutes } from "../../heart/firings/mutes.ts"
import { indexMatchers } from "../../heart/policy/indexMatchers.ts"
import { type IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import { toIncident } from "../../heart/usecases/shownIncidents.ts"
import { compileMatchers, isPositive, type Matchers } from "@tocsin/contract/labels/Matcher"

const noSuchSilence = () =>
  new NotFound({ message: "no silence has this id; list silences with GET /ops/v1/silences" })

const SAMPLE = 20
/** A silence of few agents is never refused. */
const FEW_AGENTS = 10

/**
 * Counts the accepted agents that matchers on agents leave, and says whether these are so many that the silence
 * must be confirmed (docs/rules.md#silences).
 */
const coveredAgents = Effect.fnUntraced(function* (storage: Storage["Service"], matchers: Matchers) {
  const matches = compileMatchers(matchers.filter(limitsAgents))
  let [accepted, agents] = [0, 0]
  yield* eachPage(storage, ALL_AGENTS, (rows) => {
    for (const agent of rows) {
      if (agent.admission_state !== "accepted") continue
      accepted += 1
      if (matches(agentFacts(agent))) agents += 1
    }
  })
  const isNamed = matchers.some(
    (one) => isPositive(one) && one.op === "=" && (one.field === "incident_key" || one.field === "check_id"),
  )
  return { agents, needs_confirm: !isNamed && agents > FEW_AGENTS && agents * 2 > accepted }
})

const agentFacts = ({ agent_id, hostname, labels = {} }: AgentRecord) => ({ agent_id, hostname, labels })

/** Reports what a silence with these matchers would cover now, in bounded pieces. Writes nothing. */
const previewSilence = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  matchers: Matchers,
) {
  const mutes: Mutes = {
    mutes: [{ by: "silence:preview", until: Instant.LATEST, matchers }],
    find: indexMatchers([matchers]),
  }
  const covered = new Set<IncidentId>()
  const sample: Array<IncidentRecord> = []
  yield* eachPage(
    storage,
    WORST_FIRST,
    Effect.fnUntraced(function* (rows) {
      for (const piece of piecesOf(rows, EVALUATED_TOGETHER)) {
        const ids = piece.map(({ id }) => id)
        for (const incident of yield* transact(coveredBy(mutes, ids))) {
          covered.add(incident.id)
          if (sample.length < SAMPLE) sample.push(incident)
        }
      }
    }),
  )
  let held_now = 0
  if (covered.size > 0) {
    yield* eachPage(storage, PENDING_FIRINGS, (rows) => {
      for (const item of rows) if (canBeHeld(item) && covered.has(item.incident_id)) held_now += 1
    })
  }
  return { ...(yield* coveredAgents(storage, matchers)), open_incidents: covered.size, held_now, sample }
})

const WORST_FIRST: ListQuery<"incidents"> = {
  list: "incidents",
  filter: { state: "open" },
  sort: "status",
  direction: "desc",
}

const coveredBy = loneCommandOf(function* (
  unit,
  mutes: Mutes,
  ids: ReadonlyArray<IncidentId>,
): LoneDecision<ReadonlyArray<IncidentRecord>> {
  const incidents = Array.from((yield* find("incidentsToRead", ids)).values())
  const { covering } = yield* gatherDue(unit, incidents, { ...WITHOUT_POLICY, mutes }, unit.now)
  return incidents.filter((incident) => incident.state === "open" && covering(incident).length > 0)
})

const ended = () => new StateConflict({ message: "the silence has ended; create another one" })

const needsConfirm = (agents: number) =>
  new StateConflict({
    message: `the silence covers ${agents} agents, more than half of all; send "confirm": true if that is meant`,
  })

const invalid = (message: string) => new ValidationError({ message })

/** Refuses times that no silence may have, before anything is counted for it. */
const checkTimes = (...given: Parameters<typeof silenceTimes>) =>
  Effect.mapError(Effect.fromResult(silenceTimes(...given)), invalid)

/** Operators' actions on silences (docs/rules.md#silences). */
export const silenceOperations = ({
  commits,
  ids,
  rules,
  sha256,
  signed,
  storage,
}: Pick<OperationPorts, "commits" | "ids" | "rules" | "sha256" | "signed" | "storage">) => {
  const newSilenceId = newId<SilenceId>(ids)
  return {
    silences: listReaders(storage, sha256).planned("silences", toSilence),
    silence: Effect.fn("Operations.silence")(function* (request: SilenceRequest) {
      const now = yield* Instant.now
      yield* checkTimes(request, rules, now)
      const { confirm = false, ...asked } = request
      if (!confirm) {
        const { agents, needs_confirm } = yield* coveredAgents(storage, asked.matchers)
        if (needs_confirm) return yield* needsConfirm(agents)
      }
      const id = newSilenceId(now)
      const silence = yield* signed((by) => createSilence({ id, ...asked }, rules, by))
      return toSilence(yield* Effect.mapError(Effect.fromResult(silence), refusalError), yield* Instant.now)
    }),
    previewSilence: Effect.fn("Operations.previewSilence")(function* (request: SilenceRequest) {
      yield* checkTimes(request, rules, yield* Instant.now)
      const preview = yield* previewSilence(storage, commits, request.matchers)
      return { ...preview, sample: preview.sample.map(toIncident) } satisfies SilencePreview
    }),
    showSilence: Effect.fn("Operations.showSilence")(function* (id: SilenceId) {
      const silence = yield* commits.transact(readRow("silence", id))
      return silence === undefined ? yield* noSuchSilence() : toSilence(silence, yield* Instant.now)
    }),
    editSilence: Effect.fn("Operations.editSilence")(function* (
      id: SilenceId,
      request: SilenceChangeRequest,
    ) {
      const result = yield* signed((by) => editSilence(id, request, rules, by))
      switch (result.outcome) {
        case "edited":
          return toSilence(result.silence, yield* Instant.now)
        case "unknown":
          return yield* noSuchSilence()
        case "ended":
          return yield* ended()
        case "invalid":
          return yield* invalid(result.message)
      }
    }),
    expireSilence: Effect.fn("Operations.expireSilence")(function* (id: SilenceId) {
      return { count: yield* signed((by) => expireSilence(id, by)) }
    }),
  }
}

/** Operators' actions on silences, and their list (docs/rules.md#silences). */
export class Silences extends Context.Service<Silences>()("@tocsin/core/features/silences/Silences", {
  make: Effect.map(operationPorts, silenceOperations),
}) {
  static readonly layer = Layer.effect(Silences, Silences.make)
}
