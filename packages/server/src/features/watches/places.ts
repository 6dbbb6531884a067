import * as Instant from "@tocsin/contract/formats/Instant"
import type { Place } from "@tocsin/contract/watches/places"
import { Watches } from "@tocsin/core/features/watches/Watches"
import { actOn } from "../../commands/define.ts"
import { Output } from "../../output/Output.ts"
import { ageText, type Column, tableText } from "../../output/texts.ts"
import { watchesOfCommand } from "./watchesOfCommand.ts"

const columns = (now: Instant.Instant): ReadonlyArray<Column<Place>> => [
  { title: "PLACE", cell: ({ place }) => place },
  { title: "STATE", cell: ({ state }) => state, isState: true },
  { title: "ASKED", cell: ({ asked_at }) => ageText(asked_at, now), align: "right" },
  { title: "WATCHES", cell: ({ watches }) => String(watches), align: "right" },
  {
    title: "UNKNOWN",
    cell: ({ unknown }) => (unknown === undefined ? "" : `${unknown.watches}: ${unknown.why}`),
    isOptional: true,
  },
]

export const places = actOn(watchesOfCommand)({
  name: "places",
  description: "List the places that probe watches: the service itself, and agents",
  parameters: {},
})(function* () {
  const answer = yield* Watches.use((watches) => watches.places)
  return { answer, text: tableText(columns(yield* Instant.now), answer.items, yield* Output) }
})
