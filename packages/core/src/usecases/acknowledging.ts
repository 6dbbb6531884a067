import { Effect } from "effect"
import { acknowledge, note, withdraw } from "../acknowledgements/acknowledge.ts"
import type { AcknowledgeAllRequest, AcknowledgeRequest, NoteRequest } from "../contract/Acknowledgements.ts"
import { ValidationError } from "../contract/Errors.ts"
import type { IncidentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"

/** Who acts: an operator, or a program that embeds Tocsin. */
export interface By {
  readonly by: string
}

export const noSuchIncident = () =>
  new NotFound({ message: "no incident has this id; list incidents with GET /api/v1/incidents" })

const resolved = () =>
  new StateConflict({ message: "the incident has resolved, so it cannot be acknowledged" })

const invalid = (message: string) => new ValidationError({ message })

/** The end that a request asks for, within the settings. */
const untilOf = (
  request: Pick<AcknowledgeRequest, "for" | "until">,
  rules: RuleOptions,
  now: Instant.Instant,
): Effect.Effect<Instant.Instant, ValidationError> => {
  if (request.for !== undefined && request.until !== undefined)
    return Effect.fail(invalid("for and until exclude each other; give one of them"))
  const until = request.until ?? Instant.plus(now, request.for ?? rules.acknowledgedFor)
  if (until <= now) return Effect.fail(invalid("until must be in the future"))
  return until > Instant.plus(now, rules.longestAcknowledgement)
    ? Effect.fail(
        invalid("an acknowledgement must not last longer than SERVICE_ACK_MAX; acknowledge again later"),
      )
    : Effect.succeed(until)
}

/** What people do about incidents (docs/rules.md#acknowledgements). */
export const acknowledging = ({ transact }: Pick<Commits["Service"], "transact">, rules: RuleOptions) => {
  const one = Effect.fnUntraced(function* (id: IncidentId, request: AcknowledgeRequest & By) {
    const until = yield* untilOf(request, rules, yield* Instant.now)
    const { by, note: text, severity } = request
    const result = yield* transact(acknowledge({ id, by, note: text, until, severity }))
    if (result.outcome !== "another_severity") return result
    return yield* new StateConflict({
      message: `the incident's severity is now ${result.severity}; look at it again before you acknowledge it`,
    })
  })
  return {
    acknowledge: Effect.fn("Operations.acknowledge")(function* (
      id: IncidentId,
      request: AcknowledgeRequest & By,
    ) {
      const result = yield* one(id, request)
      if (result.outcome === "acknowledged") return result.acknowledgement
      return yield* result.outcome === "unknown" ? noSuchIncident() : resolved()
    }),
    acknowledgeAll: Effect.fn("Operations.acknowledgeAll")(function* ({
      ids,
      ...request
    }: AcknowledgeAllRequest & By) {
      const items = yield* Effect.forEach(new Set(ids), (id) =>
        one(id, request).pipe(
          Effect.map(({ outcome }) => ({ id, outcome })),
          // These requests name no severity, so none can be another one.
          Effect.catchTag("StateConflict", Effect.die),
        ),
      )
      return { items }
    }),
    withdraw: Effect.fn("Operations.withdraw")(function* (id: IncidentId, { by }: By) {
      const count = yield* transact(withdraw(id, by))
      return count === undefined ? yield* noSuchIncident() : { count }
    }),
    note: Effect.fn("Operations.note")(function* (id: IncidentId, request: NoteRequest & By) {
      const noted = yield* transact(note(id, request))
      return noted ?? (yield* noSuchIncident())
    }),
  }
}
