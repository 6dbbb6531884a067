import { Duration, Result, Schema, SchemaParser } from "effect"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { DurationText } from "@tocsin/contract/formats/DurationText"
import { closedStruct, NonNegativeInteger } from "@tocsin/contract/formats/Fields"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { format, type Instant, InstantFromString, max, plus } from "@tocsin/contract/formats/Instant"
import { FiringCause, NotificationType, NotifierName } from "@tocsin/contract/formats/Status"
import { listedReceivers } from "@tocsin/core/heart/policy/readPolicy"
import type { JudgedExpectation, SimulatedNotification } from "./SimulationReport.ts"

/** A reader of lines of one form. Fails with one sentence. */
export const lineReader = <Line>(form: Schema.ConstraintDecoder<unknown> & { readonly Type: Line }) => {
  const decode = SchemaParser.decodeUnknownResult(form)
  return (fields: Readonly<Record<string, unknown>>): Result.Result<Line, string> =>
    Result.mapError(decode(fields), (issue) => describeIssue(issue, "the line"))
}

/** The messages that an expectation counts. */
const counted = {
  receiver: NotifierName,
  event: Schema.optionalKey(NotificationType),
  cause: Schema.optionalKey(FiringCause),
  /** From the time of the line on. */
  within: Schema.optionalKey(DurationText({ min: "1 second", max: "31 days" })),
}
const Counted = closedStruct(counted)

const ofLine = { received_at: InstantFromString, incident_key: Schema.optionalKey(IncidentKey) }

/** Which messages a story expects, and how many. */
export interface Expectation {
  readonly kind: JudgedExpectation["kind"]
  readonly line: number
  readonly received_at: Instant
  readonly incident_key?: IncidentKey
  readonly of: typeof Counted.Type
  readonly least: number
  readonly most: number
}

const Some = closedStruct({ ...ofLine, expect: Counted })
const None = closedStruct({ ...ofLine, expect_none: Counted })
const Few = closedStruct({
  ...ofLine,
  expect_at_most: closedStruct({ ...counted, count: NonNegativeInteger }),
})
const readers = { expect: lineReader(Some), expect_none: lineReader(None), expect_at_most: lineReader(Few) }

/** A line about an expectation, as it is written. */
export type WrittenExpectation = typeof Some.Encoded | typeof None.Encoded | typeof Few.Encoded

/** Reads a line of a story that expects messages; nothing if it is about something else. */
export const readExpectation = (
  fields: Readonly<Record<string, unknown>>,
  line: number,
): Result.Result<Expectation, string> | undefined => {
  const made = (kind: Expectation["kind"], least: number, most: number) => ({ kind, line, least, most })
  if ("expect" in fields)
    return Result.map(readers.expect(fields), ({ expect: of, ...rest }) => ({
      ...made("expect", 1, Infinity),
      of,
      ...rest,
    }))
  if ("expect_none" in fields)
    return Result.map(readers.expect_none(fields), ({ expect_none: of, ...rest }) => ({
      ...made("expect_none", 0, 0),
      of,
      ...rest,
    }))
  if ("expect_at_most" in fields)
    return Result.map(readers.expect_at_most(fields), ({ expect_at_most: { count, ...of }, ...rest }) => ({
      ...made("expect_at_most", 0, count),
      of,
      ...rest,
    }))
  return undefined
}

/** Timers act within it (docs/rules.md#evaluation). */
const USUAL_WITHIN = Duration.seconds(15)

/** Until when a story lasts at least, so that this expectation can be judged. */
export const leastEnd = ({ of, received_at }: Expectation): Instant =>
  plus(received_at, of.within ?? USUAL_WITHIN)

/** Fails with the reason if an expectation cannot be judged, or cannot fail. */
export const requireJudgeable = (
  expectation: Expectation,
  { receivers, until }: { readonly receivers: ReadonlySet<string>; readonly until: Instant },
): Result.Result<void, string> => {
  const { cause, event, receiver } = expectation.of
  if (!receivers.has(receiver))
    return Result.fail(`receiver names no receiver; ${listedReceivers(receivers)}`)
  if (event === "resolved" && cause !== undefined)
    return Result.fail("cause must be absent: a resolved has none")
  if (leastEnd(expectation) <= until) return Result.void
  return Result.fail(`the simulation ends at ${format(until)}, before this expectation does: end it later`)
}

/**
 * Counts the messages of an expectation. Without `within`, a message is expected within
 * {@link USUAL_WITHIN}, and none or few of them until the end of the story.
 */
export const judge = (
  expectation: Expectation,
  notifications: ReadonlyArray<SimulatedNotification>,
  end: Instant,
): JudgedExpectation => {
  const { incident_key, kind, least, line, most, of, received_at: from } = expectation
  const isUntilEnd = of.within === undefined && kind !== "expect"
  const until = isUntilEnd ? max(end, leastEnd(expectation)) : leastEnd(expectation)
  const messages = notifications.filter(
    (sent) =>
      from <= sent.at &&
      sent.at <= until &&
      sent.receiver === of.receiver &&
      (of.event ?? sent.event_type) === sent.event_type &&
      (of.cause ?? sent.cause) === sent.cause &&
      (incident_key ?? sent.incident_key) === sent.incident_key,
  ).length
  const { cause, event, receiver } = of
  return {
    line,
    kind,
    receiver,
    from,
    until,
    messages,
    holds: least <= messages && messages <= most,
    ...(event !== undefined && { event }),
    ...(cause !== undefined && { cause }),
    ...(incident_key !== undefined && { incident_key }),
    ...(kind === "expect_at_most" && { count: most }),
  }
}
