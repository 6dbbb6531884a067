import { Schema } from "effect"
import { named, NonNegativeInteger, optional } from "../formats/Fields.ts"
import { AgentId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { CheckStatus } from "../formats/Status.ts"

/** The service itself as a place (docs/watches.md#places). */
export const HERE = AgentId.make("here")

const MOST_PLACES = 10
const FROM_RULE = `1 to ${MOST_PLACES} different names: here, and IDs of agents`

const From = Schema.Array(AgentId).check(
  Schema.isMinLength(1, { expected: FROM_RULE }),
  Schema.isMaxLength(MOST_PLACES, { expected: FROM_RULE }),
  Schema.isUnique({ expected: FROM_RULE }),
)

const FAILS_RULE = `majority, any, all, or a whole number from 1 to ${MOST_PLACES}`

export const Fails = Schema.Union([
  Schema.Literals(["majority", "any", "all"]),
  Schema.Number.check(
    Schema.isInt({ expected: FAILS_RULE }),
    Schema.isBetween({ minimum: 1, maximum: MOST_PLACES }, { expected: FAILS_RULE }),
  ),
]).annotate({ expected: FAILS_RULE })

/** How many places must have a status, so that the watch has it. */
export type Fails = typeof Fails.Type

export const USUAL_FROM: ReadonlyArray<AgentId> = [HERE]
export const USUAL_FAILS: Fails = "majority"

export const placeFields = {
  from: optional(From, "The places that probe it: here, which is the service, unless given."),
  fails: optional(
    Fails,
    "How many places must have a status, so that the watch has it: majority unless given.",
  ),
}

/** The most characters of a name that an agent reports as its check `watch:NAME`. */
const LONGEST_NAME = 122

interface Placed {
  readonly name: string
  readonly from: ReadonlyArray<AgentId>
  readonly fails: Fails
}

/** The problem of the places of a watch as a whole: the field, and the sentence without it. */
export const placeProblem = ({
  fails,
  from,
  name,
}: Placed): { readonly path: readonly ["fails" | "name"]; readonly message: string } | undefined => {
  if (typeof fails === "number" && fails > from.length)
    return { path: ["fails"], message: `must not be more than the ${from.length} of from` }
  if (name.length > LONGEST_NAME && from.some((place) => place !== HERE))
    return {
      path: ["name"],
      message: `must have at most ${LONGEST_NAME} characters, because agents report it as watch:NAME`,
    }
  return undefined
}

/** A place of a watch, as the watch shows it. */
export const WatchPlace = Schema.Struct({
  place: AgentId,
  status: Schema.NullOr(CheckStatus).annotateKey({
    description: "Its confirmed status, null before the first one; unknown where its last result is.",
  }),
  at: Schema.NullOr(InstantFromString).annotateKey({ description: "The time of its last result." }),
  counts: Schema.Boolean.annotateKey({ description: "Whether it counts now." }),
}).annotate(named("WatchPlace", "A place that probes the watch."))
export type WatchPlace = typeof WatchPlace.Type

/** A confirmed status of a place, from a moment on. */
export const PlaceStatus = Schema.Struct({ from: InstantFromString, status: CheckStatus }).annotate(
  named("PlaceStatus", "A confirmed status of a place, until the next one."),
)

/** A place of the service: itself, or an agent. */
const Place = Schema.Struct({
  place: AgentId,
  state: Schema.Literals(["ok", "late", "cut_off", "never"]).annotateKey({
    description:
      "Whether it can decide: late if it has not asked for 90 s, cut_off while most of its watches fail at once, never if it has not asked.",
  }),
  asked_at: Schema.NullOr(InstantFromString).annotateKey({
    description: "When it asked last which watches to probe; null of here, and before the first time.",
  }),
  watches: NonNegativeInteger.annotateKey({ description: "How many watches name it." }),
  unknown: optional(
    Schema.Struct({ watches: NonNegativeInteger, why: Schema.String }),
    "Of how many of these its last result is unknown, because it refuses them or cannot probe them, and what it says of the first one by name; absent if of none.",
  ),
}).annotate(named("Place", "A place that probes watches."))
export type Place = typeof Place.Type

export const PlaceList = Schema.Struct({ items: Schema.Array(Place) }).annotate(
  named("PlaceList", "The service, each agent that asked within 7 days, and each that a watch names."),
)

/** The question of an agent: see `GET /ops/v1/agents/{agent_id}/watches`. */
export const PlaceWatchesQuery = Schema.Struct({
  secrets: optional(
    Schema.Literals(["true", "false"]),
    "Whether the probes have their secrets: false unless given.",
  ),
})
