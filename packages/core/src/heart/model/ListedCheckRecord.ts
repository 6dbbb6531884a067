import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import { CHECK_COLUMNS, OF_CHECK } from "../../kernel/model/CheckRef.ts"
import {
  array,
  instant,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

/** A time in which a check was withdrawn, in milliseconds since 1970. */
export interface WithdrawnSpan {
  readonly from_millis: number
  readonly to_millis: number
}

/** A check that a list of its agent had (docs/rules.md#withdrawn-checks). */
export const listed_check = keyedTable({
  name: "listed_check",
  ...OF_CHECK,
  columns: {
    ...CHECK_COLUMNS,
    state: text<"listed" | "leaving" | "reporting" | "withdrawn">(),
    /** When it is withdrawn or, of a withdrawn one, deleted. */
    next_evaluation_at: orUndefined(instant),
    /** When it was withdrawn before, the latest spans. */
    spans: array<WithdrawnSpan>(),
  },
})
export type ListedCheckRecord = RecordOf<typeof listed_check>

const LISTED = "the newest list has it"
const MISSED = "the newest list lacks it"

/** Transitions of a check that a list had (docs/rules.md#withdrawn-checks). Older lists than the newest change nothing. */
export const ListedCheckTransitions = stateTable({
  absent: {
    "listed -> listed": `${LISTED} | nothing else changes`,
  },
  listed: {
    "missed -> leaving": `${MISSED} | in 2 min it is withdrawn, unless it reports`,
    "removed -> absent": "it or its agent is deleted",
  },
  leaving: {
    "listed -> listed": `${LISTED} | nothing else changes`,
    "missed -> leaving": `${MISSED} | the 2 min begin again if it has reported since the list before`,
    "found_reporting -> reporting":
      "a result observed after the newest list has come | its agent's terms for it end",
    "found_silent -> withdrawn":
      "none has come | it leaves its incidents, nothing expects it, and it counts in no other state",
    "removed -> absent": "it or its agent is deleted",
  },
  reporting: {
    "listed -> listed": `${LISTED} | nothing else changes`,
    "missed -> leaving": `${MISSED} | in 2 min it is withdrawn, unless it reports`,
    "removed -> absent": "it or its agent is deleted",
  },
  withdrawn: {
    "listed -> listed": `${LISTED} | it has its last status again`,
    "reported -> reporting":
      "a result observed after the newest list comes | it counts again, and opens an incident if it is not ok",
    "removed -> absent": "it or its agent is deleted, or its history's retention is over",
  },
})
