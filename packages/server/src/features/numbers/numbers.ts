import { csvLines } from "@tocsin/contract/formats/csvText"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NumbersParameters, type SeriesOfCheck } from "@tocsin/contract/numbers/Numbers"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { MOST_OF_CHECK } from "@tocsin/core/features/numbers/NumberBounds"
import { Numbers } from "@tocsin/core/lists/Numbers"
import { Duration, Effect, Schema, Struct } from "effect"
import { drawNumbers } from "./drawNumbers.ts"
import { Output } from "../../output/Output.ts"
import { countText, jsonText } from "../../output/texts.ts"
import { actOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"

const WHY = {
  check: `a check keeps ${MOST_OF_CHECK} numbers: choose them by numbers in the configuration of its agent, or in the options of its integration`,
  agent: "an agent keeps a tenth of all series: raise SERVICE_NUMBERS_SERIES",
  all: "there are as many series as SERVICE_NUMBERS_SERIES allows: raise it",
  not_yet: "a server writes them within five minutes",
} as const

const MOST_NAMED = 20

/** Names the numbers that are not kept, and says why. */
const notKeptText = (left: SeriesOfCheck["not_kept"]): string => {
  const names = left.slice(0, MOST_NAMED).map(({ name }) => plainLine(name))
  const more = left.length > MOST_NAMED ? `, and ${countText(left.length - MOST_NAMED)} more` : ""
  return `not kept: ${names.join(", ")}${more}; ${WHY[left[0]?.because ?? "check"]}\n`
}

const Named = Schema.Struct(Struct.pick(NumbersParameters.fields, ["agent_id", "check_id", "name"]))

export const showNumbers = actOn(Numbers.layer)({
  name: "numbers",
  description:
    "Draw what a check measured: how long it runs, and the performance data of its output.\n" +
    "  A server writes its last five minutes later.",
  short: "Draw what a check measured",
  examples: ["tocsin numbers web-1/disk", "tocsin numbers web-1/disk --name /var --since 30d --csv"],
  parameters: {
    check: flags.checkArgument,
    name: flags.text("name", "Only the series of this name"),
    since: flags.time("since", "Show what was measured since (default: 24h ago)"),
    csv: flags.flag("csv", "Write the spans as CSV for spreadsheets, with the field names of the API"),
  },
  refused: { NotFound: () => flags.noSuchCheck },
  reads: Effect.fnUntraced(function* ({ check, csv, name, since }) {
    const named = { ...(yield* flags.checkIn(check)), name }
    const from = yield* flags.beginOf(since, Duration.hours(24))
    return { csv, from, named: yield* flags.readArguments(Named, named) }
  }),
})(function* ({ csv, from, named }) {
  const until = yield* Instant.now
  const { numbers } = yield* Numbers
  const { items: kept, not_kept } = yield* numbers.ofCheck(named.agent_id, named.check_id)
  const read = yield* numbers.read({ ...named, from, to: until })
  const answer = { ...read, kept: kept.map(({ name, unit }) => ({ name, unit })), not_kept }
  if (csv) {
    const items = answer.series.flatMap(({ spans, ...series }) =>
      spans.map((span) => ({ ...series, ...span })),
    )
    const place = answer.series.some((series) => series.place !== undefined) ? " place" : ""
    const { head, rows } = csvLines(`name unit at count min max mean last${place}`)
    return { answer, text: head + rows(JSON.parse(jsonText(items))) }
  }
  if (answer.series.length === 0)
    return {
      answer,
      text: "",
      note: "no numbers of this check in this time; servers write them every five minutes, and docs/numbers.md says what counts\n",
    }
  const drawn = drawNumbers(answer, { from, until }, yield* Output)
  return { answer, text: drawn, ...(not_kept.length > 0 && { note: notKeptText(not_kept) }) }
})
