import { Schema } from "effect"
import { NotifierName } from "./Status.ts"

export const whole = (minimum: number, maximum: number) => {
  const rule = { expected: `an integer from ${minimum} to ${maximum}` }
  return Schema.Number.check(Schema.isInt(rule), Schema.isBetween({ minimum, maximum }, rule))
}
const TEXT_RULE = { expected: "a text of 1 to 1,024 characters" }
export const text = (description: string) =>
  Schema.String.check(Schema.isMinLength(1, TEXT_RULE), Schema.isMaxLength(1_024, TEXT_RULE)).annotate({
    description,
  })

export const cron = text("Five fields: minute, hour, day, month, weekday.")
export const tz = text("An IANA time zone, such as Europe/Berlin.")

export const hours = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/u, {
    expected: "two times of day, such as 22:00-07:00",
  }),
)
export const days = Schema.optionalKey(
  Schema.Union([
    text("Weekdays as in cron, such as mon-fri."),
    Schema.NonEmptyArray(Schema.Literals(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])),
  ]).annotate({
    expected: "weekdays as in cron, such as mon-fri, or a list such as [mon, fri]",
    description: "The weekdays on which the hours begin; every day by default.",
  }),
)

const MOST_TOGETHER = 5
export const TOGETHER_RULE = { expected: `a list of 1 to ${MOST_TOGETHER} receivers, each once` }
/** Receivers that are on call together. */
export const receiversTogether = Schema.NonEmptyArray(NotifierName).check(
  Schema.isMaxLength(MOST_TOGETHER, TOGETHER_RULE),
  Schema.isUnique(TOGETHER_RULE),
)
