import { example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"

const expectations: Operations = {
  declareExpectations: {
    summary: "Declare which checks of an agent must report, and how often",
    description:
      "Declares checks that must report. One that stops is late, and joins the incident of its agent's late checks. Needs the agent's accepted key. Limited like heartbeats. An equal declaration changes nothing.",
    request: example("usual", "A check that reports each minute, and a backup that runs each night", {
      checks: [
        { check_id: "disk", every: "1m" },
        { check_id: "backup", cron: "0 3 * * *", tz: "Europe/Berlin", grace: "1h", severity: "critical" },
      ],
      complete: true,
    }),
    success: { declared: ["Both are expected; another one no longer is", { expected: 2, withdrawn: 1 }] },
  },
}

export const overdue = { tags: [["Checks", undefined, expectations]] } satisfies HttpPart
