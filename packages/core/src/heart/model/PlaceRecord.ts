import { Duration } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PLACE_CHECKS } from "@tocsin/contract/watches/watchOptions"
import { NO_TOPICS, topic } from "../../kernel/topics/Topics.ts"
import { instant, keyedTable, object, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** An agent that asks which watches it is to probe (docs/rules.md#places). */
export const place = keyedTable({
  name: "place",
  key: ["agent_id"],
  locks: "guarded",
  group: [],
  // A question after the first says nothing new.
  topicsOf: (before) => (before === undefined ? topic("agents") : NO_TOPICS),
  columns: {
    agent_id: text<AgentId>(),
    asked_at: instant,
    /** Checks whose watches no longer name it, and when that was noticed, in microseconds. */
    leaving: object<Readonly<Record<CheckId, number>>>(),
  },
})
export type PlaceRecord = RecordOf<typeof place>

/** How long an agent is a place after it has asked. */
const LASTS = Duration.days(7)

/** Whether an agent is a place. */
export const isPlace = (row: PlaceRecord | undefined, now: Instant.Instant): row is PlaceRecord =>
  row !== undefined && now <= Instant.plus(row.asked_at, LASTS)

/** Whether a check of an agent is that of a watch, if the agent is a place. */
export const isOfWatch = (check_id: CheckId): boolean => check_id.startsWith(PLACE_CHECKS)

/** Whether a result is that of a place about a watch. */
export const isOfPlace = (
  { isPlace: isByPlace }: { readonly isPlace?: boolean },
  { check_id }: { readonly check_id: CheckId },
): true | undefined => (isByPlace === true && isOfWatch(check_id) ? true : undefined)
