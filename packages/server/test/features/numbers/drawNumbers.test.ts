import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { drawNumbers } from "@tocsin/server/features/numbers/drawNumbers"

const MINUTES = 60_000
const from = Instant.fromMillis(1_769_848_200_000)
const until = Instant.fromMillis(1_769_848_200_000 + 80 * MINUTES)

const spanAt = (minute: number, mean: number) => ({
  at: Instant.fromMillis(1_769_848_200_000 + minute * MINUTES),
  count: 1,
  min: mean,
  max: mean,
  mean,
  last: mean,
})

const draw = (values: ReadonlyArray<readonly [minute: number, value: number]>, columns?: number) =>
  drawNumbers(
    {
      step: "5m",
      series: [
        { name: "rta\u001B", unit: "s", spans: values.map(([minute, value]) => spanAt(minute, value)) },
      ],
    },
    { from, until },
    { columns, hasColour: false },
  )

describe("numbers in a terminal", () => {
  it("of a watch name the place of each series", () => {
    const series = ["here", "berlin"].map((place) => ({
      name: "duration",
      unit: "s",
      place: AgentId.make(place),
      spans: [spanAt(0, 1)],
    }))
    const drawn = drawNumbers({ step: "5m", series }, { from, until }, { columns: 22, hasColour: false })
    assert.match(drawn, /^duration from here  1 s\n[^]+\nduration from berlin  1 s\n/)
  })

  it("rise from the least to the most value, and a gap stays empty", () => {
    const rising = [0, 5, 10, 15, 20, 25, 60, 75].map((minute) => [minute, minute] as const)
    assert.strictEqual(
      draw(rising, 22),
      [
        "rta  75 s",
        "75 s             ▂▂ ██",
        "                 ██ ██",
        "          ▂▃     ██ ██",
        " 0 s ▁▁▃▅▇██     ██ ██",
        "",
        "2026-01-31T08:30:00.000Z to 2026-01-31T09:50:00.000Z",
        "",
      ].join("\n"),
    )
  })

  it("have one label if they never change, and letters in a file", () => {
    assert.match(draw([[40, 3]]), /^rta {2}3 s\n3 s\n\n {52}#{6}\n {52}#{6}\n\n2026/u)
  })
})
