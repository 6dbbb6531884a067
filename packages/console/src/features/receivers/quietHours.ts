import { ZONE } from "../../format/times.ts"
import type { FormField, Texts } from "../../view/FormField.ts"

type Fields = Readonly<Record<string, FormField>>
type Entry = Readonly<Record<string, unknown>>

/** The fields of the hours in which a receiver is not notified of milder incidents. */
const QUIET = {
  "quiet.hours": {
    label: "Quiet hours",
    example: "22:00-07:00",
  },
  "quiet.below": {
    label: "Quiet if milder than",
    options: [["critical"], ["unknown"]],
    initial: "critical",
    hint: "Such incidents wait until the quiet hours end.",
  },
  "quiet.tz": { label: "Zone of quiet hours", example: "Europe/Berlin", hint: "Blank: that of the policy." },
} as const satisfies Fields

export const quietFields = (former: Entry | undefined): Fields =>
  Object.fromEntries(
    Object.entries(QUIET).map(([name, field]) => {
      const value: unknown = Object(former?.["quiet"])[name.replace("quiet.", "")]
      const refusedAs = new RegExp(`receivers\\.\\w+\\.${name.replace(".", "\\.")}\\b`)
      const first = name === "quiet.tz" && former?.["quiet"] === undefined ? ZONE : undefined
      const initial = value ?? first
      const usual = first !== undefined && { usual: first }
      return [
        name,
        { ...field, refusedAs, ...usual, ...(initial !== undefined && { initial: String(initial) }) },
      ]
    }),
  )

/** Quiet hours as a form says them, with what it does not ask for, such as their days; none without hours. */
export const quietOf = (former: Entry, texts: Texts): Entry => {
  const { tz: _, ...others } = Object(former["quiet"])
  const { "quiet.below": below = "", "quiet.hours": hours = "", "quiet.tz": tz = "" } = texts
  return hours === "" ? {} : { quiet: { ...others, hours, ...(tz !== "" && { tz }), below } }
}
