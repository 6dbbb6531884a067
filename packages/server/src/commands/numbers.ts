import { csvLines } from "@tocsin/contract/csvText"
import * as Instant from "@tocsin/contract/Instant"
import { NumbersParameters } from "@tocsin/contract/Numbers"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Duration, Effect, Schema, Struct } from "effect"
import { drawNumbers } from "../output/drawNumbers.ts"
import { Output } from "../output/Output.ts"
import { jsonText } from "../output/texts.ts"
import { act } from "./define.ts"
import * as flags from "./flags.ts"

const Named = Schema.Struct(Struct.pick(NumbersParameters.fields, ["agent_id", "check_id", "name"]))

export const showNumbers = act({
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
  const answer = yield* Queries.use((queries) => queries.numbers.read({ ...named, from, to: until }))
  if (csv) {
    const items = answer.series.flatMap(({ name, spans, unit }) =>
      spans.map((span) => ({ name, unit, ...span })),
    )
    const { head, rows } = csvLines("numbers")
    return { answer, text: head + rows(JSON.parse(jsonText(items))) }
  }
  if (answer.series.length === 0)
    return {
      answer,
      text: "",
      note: "no numbers of this check in this time; servers write them every five minutes, and docs/numbers.md says what counts\n",
    }
  return { answer, text: drawNumbers(answer, { from, until }, yield* Output) }
})
