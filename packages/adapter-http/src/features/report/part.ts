import { Reports } from "@tocsin/core/features/report/readReport"
import { OPEN_INCIDENT, example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const CHECK = { agent_id: "web-01", check_id: "disk", title: "Disk of the shop" }

const reports: Operations = {
  readReport: {
    summary: "Report how checks were during a span",
    description:
      "Sums up a span of at most 400 days that has ended: the availability of checks by the values of a label, the ten worst checks, the incidents that were open, with who acknowledged them first and after how long, and when checks were late. `match` selects checks, and the incidents with such a member.",
    parameters: {
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-02-01T00:00:00.000Z",
      group: "team",
      match: "label:team = shop",
    },
    success: example("month", "A month of one check that failed once", {
      groups: [{ group: "shop", checks: 1, percent: 99.965 }],
      worst: [
        {
          ...CHECK,
          percent: 99.965,
          seconds: {
            ok: 2_677_200,
            warning: 0,
            critical: 900,
            unknown: 0,
            late: 300,
            planned: 0,
            no_data: 0,
          },
        },
      ],
      incidents: [
        {
          ...OPEN_INCIDENT,
          title: CHECK.title,
          resolution: null,
          duration_seconds: 900,
          acknowledged_by: "ann",
          acknowledged_after_seconds: 240,
        },
      ],
      late: [{ ...CHECK, from: "2026-01-12T03:00:00.000Z", to: "2026-01-12T03:05:00.000Z" }],
    }),
  },
}

export const report = {
  tags: [["Reports", "How checks were during a span.", reports]],
  useCases: useCasesOf("report", Reports, (calls) => ({ readReport: ({ query }) => calls.report(query) })),
} satisfies HttpPart
