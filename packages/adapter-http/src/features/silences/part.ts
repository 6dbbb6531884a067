import { Silences } from "@tocsin/core/features/silences/Silences"
import { OPEN_INCIDENT, counted, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const SILENCE = {
  id: "01941f2a-7d3c-7e4b-9c1d-2f3a4b5c6d7e",
  state: "active",
  matchers: [{ field: "label:team", op: "=", value: "db" }],
  starts_at: "2026-01-31T08:40:00.000Z",
  ends_at: "2026-01-31T10:40:00.000Z",
  comment: "New disks for the databases",
  created_by: "ann",
  created_at: "2026-01-31T08:40:00.000Z",
}
const silenceId = { id: SILENCE.id }

const operations: Operations = {
  listSilences: {
    summary: "List silences",
    description: "Lists silences, the newest first.",
    ...lastPage(SILENCE),
  },
  getSilence: {
    summary: "Show a silence",
    description: "Shows a silence.",
    parameters: silenceId,
    success: { active: ["A silence in force", SILENCE] },
  },
  createSilence: {
    summary: "Create a silence, or preview one",
    description:
      "Creates a silence: while it is active, Tocsin sends no firing of the incidents that it covers and that has not been attempted yet. With dry_run=true it creates nothing, and reports what the silence would cover now. Answers 409 if the silence covers more than half of the accepted agents, and more than 10, and is not confirmed; and if 1,000 silences are scheduled or active.",
    request: {
      team: [
        "All agents of a team, for two hours",
        { matchers: SILENCE.matchers, for: "2h", comment: SILENCE.comment },
      ],
      confirmed: [
        "The disks of every agent",
        {
          matchers: [{ field: "check_id", op: "glob", value: "disk*" }],
          for: "30m",
          comment: "New disks everywhere",
          confirm: true,
        },
      ],
    },
    success: { created: ["Created", SILENCE] },
    byStatus: {
      200: {
        previewed: [
          "With dry_run=true",
          { agents: 4, open_incidents: 1, held_now: 0, needs_confirm: false, sample: [OPEN_INCIDENT] },
        ],
      },
    },
  },
  changeSilence: {
    summary: "Change the end or the comment of a silence",
    description: "Changes the end or the comment of a silence. Answers 409 if it has ended.",
    parameters: silenceId,
    request: { comment: ["Another comment", { comment: "Disks arrive at noon" }] },
    success: { changed: ["The silence as changed", SILENCE] },
  },
  expireSilence: {
    summary: "End a silence now",
    description:
      "Ends a silence. What it held is sent, if nothing else holds it. The count is 0 if it had ended or does not exist.",
    parameters: silenceId,
    ...counted("The silence has ended", 1),
  },
}

export const silences = {
  tags: [["Silences", "Hold the notifications of some agents or checks for a while.", operations]],
  useCases: useCasesOf("silences", Silences, (calls) => ({
    listSilences: ({ query }) => calls.silences(query),
    getSilence: ({ params }) => calls.showSilence(params.id),
    createSilence: ({ payload, query }) =>
      query.dry_run ? calls.previewSilence(payload) : calls.silence(payload),
    changeSilence: ({ params, payload }) => calls.editSilence(params.id, payload),
    expireSilence: ({ params }) => calls.expireSilence(params.id),
  })),
} satisfies HttpPart
