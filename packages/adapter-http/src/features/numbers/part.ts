import { Numbers } from "@tocsin/core/lists/Numbers"
import { RECEIVED_AT, example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const operations: Operations = {
  listSeries: {
    summary: "List what a check measures",
    description:
      "Lists the series of numbers of a check: how long it runs, and the performance data of its output, with the last value of each and the bounds that the newest output states, and which numbers are not kept.",
    success: example("usual", "A check of a disk", {
      items: [
        {
          name: "duration",
          unit: "s",
          last: 0.041,
          last_at: RECEIVED_AT,
          warn: null,
          crit: null,
          min: null,
          max: null,
        },
        {
          name: "used",
          unit: "%",
          last: 91,
          last_at: RECEIVED_AT,
          warn: "80",
          crit: "90",
          min: "0",
          max: "100",
        },
      ],
      not_kept: [{ name: "inodes", unit: "%", because: "check" }],
    }),
  },
  readNumbers: {
    summary: "Read numbers over time",
    description:
      "Reads spans of the series of a check. A watch with other places than here has a series duration for each place, with its name. Spans of 5 minutes are kept for two days, longer ones for the retention of numbers.",
    success: example("usual", "An hour of a check of a disk", {
      step: "1h",
      series: [
        {
          name: "used",
          unit: "%",
          spans: [{ at: "2026-01-31T08:00:00.000Z", count: 60, min: 88, max: 91, mean: 89.5, last: 91 }],
        },
      ],
    }),
  },
}

export const numbers = {
  tags: [["Numbers", "Measurements of checks over time.", operations]],
  useCases: useCasesOf("numbers", Numbers, ({ numbers: calls }) => ({
    listSeries: ({ params }) => calls.ofCheck(params.agent_id, params.check_id),
    readNumbers: ({ query }) => calls.read(query),
  })),
} satisfies HttpPart
