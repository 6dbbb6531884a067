import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"
import * as scenario from "./scenario.ts"

/** Examples of the operations on silences. */
export const silenceExamples: Readonly<Record<string, OperationExamples>> = {
  listSilences: lastPage(scenario.SILENCE),
  getSilence: {
    parameters: { id: scenario.SILENCE_ID },
    success: { active: { summary: "A silence in force", value: scenario.SILENCE } },
  },
  createSilence: {
    request: {
      team: {
        summary: "All agents of a team, for two hours",
        value: { matchers: scenario.SILENCE.matchers, for: "2h", comment: scenario.SILENCE.comment },
      },
      confirmed: {
        summary: "The disks of every agent",
        value: {
          matchers: [{ field: "check_id", op: "glob", value: "disk*" }],
          for: "30m",
          comment: "New disks everywhere",
          confirm: true,
        },
      },
    },
    success: { created: { summary: "Created", value: scenario.SILENCE } },
    byStatus: {
      200: {
        previewed: {
          summary: "With dry_run=true",
          value: {
            agents: 4,
            open_incidents: 1,
            held_now: 0,
            needs_confirm: false,
            sample: [scenario.OPEN_INCIDENT],
          },
        },
      },
    },
  },
  changeSilence: {
    parameters: { id: scenario.SILENCE_ID },
    request: {
      comment: { summary: "Another comment", value: { comment: "Disks arrive at noon" } },
    },
    success: { changed: { summary: "The silence as changed", value: scenario.SILENCE } },
  },
  expireSilence: { parameters: { id: scenario.SILENCE_ID }, ...counted("The silence has ended", 1) },
}
