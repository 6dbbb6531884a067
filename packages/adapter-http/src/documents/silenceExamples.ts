import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"
import * as story from "./story.ts"

/** Examples of the operations on silences. */
export const silenceExamples: Readonly<Record<string, OperationExamples>> = {
  listSilences: lastPage(story.SILENCE),
  getSilence: {
    parameters: { id: story.SILENCE_ID },
    success: { active: { summary: "A silence in force", value: story.SILENCE } },
  },
  createSilence: {
    request: {
      team: {
        summary: "All agents of a team, for two hours",
        value: { matchers: story.SILENCE.matchers, for: "2h", comment: story.SILENCE.comment },
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
    success: { created: { summary: "Created", value: story.SILENCE } },
    byStatus: {
      200: {
        previewed: {
          summary: "With dry_run=true",
          value: {
            agents: 4,
            open_incidents: 1,
            held_now: 0,
            needs_confirm: false,
            sample: [story.OPEN_INCIDENT],
          },
        },
      },
    },
  },
  changeSilence: {
    parameters: { id: story.SILENCE_ID },
    request: {
      comment: { summary: "Another comment", value: { comment: "Disks arrive at noon" } },
    },
    success: { changed: { summary: "The silence as changed", value: story.SILENCE } },
  },
  expireSilence: { parameters: { id: story.SILENCE_ID }, ...counted("The silence has ended", 1) },
}
