import { Effect } from "effect"
import type { Signature } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { SilenceId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Silence, SilenceChangeRequest, SilencePreview, SilenceRequest } from "@tocsin/contract/Silences"
import type { Commits } from "../engine/commits/Commits.ts"
import { type Ids, newId } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage } from "../ports/Storage.ts"
import {
  createSilence,
  editSilence,
  expireSilence,
  readSilence,
  type SilenceRefusal,
  silenceTimes,
} from "../silences/silenceDecisions.ts"
import { type SilenceRecord, silenceState } from "../model/SilenceRecord.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"
import { coveredAgents, previewSilence } from "./previewSilence.ts"
import { toIncident } from "./toResources.ts"

const noSuchSilence = () =>
  new NotFound({ message: "no silence has this id; list silences with GET /ops/v1/silences" })

const ended = () => new StateConflict({ message: "the silence has ended; create another one" })

const needsConfirm = (agents: number) =>
  new StateConflict({
    message: `the silence covers ${agents} agents, more than half of all; send "confirm": true if that is meant`,
  })

const invalid = (message: string) => new ValidationError({ message })

/** A silence as it is shown at a moment. */
export const toSilence = (record: SilenceRecord, now: Instant.Instant): Silence => ({
  ...record,
  state: silenceState(record, now),
})

const refused = ({ message, reason }: SilenceRefusal) =>
  reason === "invalid" ? invalid(message) : new StateConflict({ message })

/** Refuses times that no silence may have, before anything is counted for it. */
const checkTimes = (...given: Parameters<typeof silenceTimes>) =>
  Effect.mapError(Effect.fromResult(silenceTimes(...given)), invalid)

interface SilencingPorts {
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly ids: Ids["Service"]
  readonly rules: RuleOptions
  readonly signature: Effect.Effect<Signature>
}

/** Operators' actions on silences (docs/rules.md#silences). */
export const silencing = ({ commits, ids, rules, signature, storage }: SilencingPorts) => {
  const newSilenceId = newId<SilenceId>(ids)
  return {
    silence: Effect.fn("Operations.silence")(function* (request: SilenceRequest) {
      const now = yield* Instant.now
      yield* checkTimes(request, rules, now)
      const { confirm = false, ...asked } = request
      if (!confirm) {
        const { agents, needs_confirm } = yield* coveredAgents(storage, asked.matchers)
        if (needs_confirm) return yield* needsConfirm(agents)
      }
      const id = newSilenceId(now)
      const silence = yield* commits.transact(createSilence({ id, ...asked }, rules, yield* signature))
      return toSilence(yield* Effect.mapError(Effect.fromResult(silence), refused), yield* Instant.now)
    }),
    previewSilence: Effect.fn("Operations.previewSilence")(function* (request: SilenceRequest) {
      yield* checkTimes(request, rules, yield* Instant.now)
      const preview = yield* previewSilence(storage, commits, request.matchers)
      return { ...preview, sample: preview.sample.map(toIncident) } satisfies SilencePreview
    }),
    showSilence: Effect.fn("Operations.showSilence")(function* (id: SilenceId) {
      const silence = yield* commits.transact(readSilence(id))
      return silence === undefined ? yield* noSuchSilence() : toSilence(silence, yield* Instant.now)
    }),
    editSilence: Effect.fn("Operations.editSilence")(function* (
      id: SilenceId,
      request: SilenceChangeRequest,
    ) {
      const result = yield* commits.transact(editSilence(id, request, rules, yield* signature))
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
      return { count: yield* commits.transact(expireSilence(id, yield* signature)) }
    }),
  }
}
