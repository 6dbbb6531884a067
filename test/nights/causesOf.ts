import type { Cause } from "../firings/Story.ts"
import { dueOf } from "./dueOf.ts"
import { CHORES, type Facts } from "./Facts.ts"
import type { Named } from "./Named.ts"
import type { Row } from "./Row.ts"

/** The causes by what a receiver knows and which steps name it. */
const byRule = (incident: Facts, { receiver, written }: Row, named: Named): ReadonlyArray<Cause> => {
  const { at, isFirst, isLater } = dueOf(incident, receiver, named)
  const knowsNothing = incident.rows.knows(receiver) === 0
  return [
    ...(isFirst ? [knowsNothing ? ("opened" as const) : ("worsened" as const)] : []),
    ...(isLater ? ["escalation" as const] : []),
    ...(isLater && !knowsNothing && at < written ? ["worsened" as const] : []),
  ]
}

/** The causes that a row may have that becomes due now. */
export const causesOf = (incident: Facts, row: Row, at: number, named: Named): ReadonlyArray<Cause> => {
  const { onCall, rows, severities, world } = incident
  const { receiver, special, steps } = row
  const knows = rows.knows(receiver)
  const isBeside = onCall.isBeside(receiver, named.rotas)
  const whileBeside = isBeside ? (["escalation"] as const) : []
  // An acknowledgement may run out before its receiver is named, as while Tocsin is stopped.
  const mayFollow =
    special === "ack_ran_out" &&
    (world.isOut(incident.ranOutAt) || (knows === 0 && row.written + CHORES > incident.ranOutAt))
  switch (special) {
    case "ack_ran_out":
    case "reminder":
      return [
        special,
        ...(mayFollow ? byRule(incident, row, named) : []),
        ...(onCall.came(receiver).some((came) => onCall.isHandover(came)) ? (["handover"] as const) : []),
        // The text names both causes for one that stands beside another, and for a reminder that waits as a step is due.
        ...(steps.length > 0 ? (["escalation"] as const) : whileBeside),
      ]
    case "handover":
    case "beside":
      if (knows < severities.announced) return [...whileBeside, ...byRule(incident, row, named)]
      return special === "beside" && isBeside ? whileBeside : [...whileBeside, "handover"]
    case "again":
      return [...row.causes, knows === 0 ? "opened" : "worsened"]
    case "step":
      return [
        "escalation",
        ...(knows < severities.announced && at > row.dueAt + CHORES ? (["worsened"] as const) : []),
        // Both are due.
        ...((rows.lastAttempt(receiver) ?? at) + (named.remind ?? Infinity) <= at
          ? (["reminder"] as const)
          : []),
      ]
    default:
  }
  const ruled: ReadonlyArray<Cause> = [
    ...byRule(incident, row, named),
    // It may have been written as the acknowledgement ran out.
    ...(incident.ranOutAt + CHORES > at ? (["ack_ran_out"] as const) : []),
  ]
  if (!isBeside) return onCall.isBeside(receiver, row.rotas) ? [...ruled, "escalation"] : ruled
  // One that waited before its receiver stood beside another, or whose receiver knows something or is named otherwise
  // too, has either cause.
  const isNamedOtherwise = named.isDirect || onCall.hasTurn(receiver, named.rotas)
  return knows > 0 || isNamedOtherwise || row.written < at - CHORES
    ? ["escalation", ...ruled]
    : ["escalation"]
}
