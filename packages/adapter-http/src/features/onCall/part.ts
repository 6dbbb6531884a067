import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { counted, example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import * as CalendarRoutes from "./CalendarRoutes.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const OVERRIDE = {
  id: "019ae4a1-6c3c-7e4b-9c1d-2f3a4b5c6d7e",
  rota: "primary",
  state: "scheduled",
  from: "2026-12-12T17:00:00.000Z",
  to: "2026-12-13T17:00:00.000Z",
  receivers: ["bob"],
  missing: [],
  note: "Ann is at a wedding",
  created_by: "ann",
  created_at: "2026-12-07T10:00:00.000Z",
  left_out: [],
}
const TURN = {
  from: "2026-12-07T08:00:00.000Z",
  to: "2026-12-12T17:00:00.000Z",
  receivers: ["ann", "ann_mail"],
  by: "turn",
}
const TAKEN = { from: OVERRIDE.from, to: OVERRIDE.to, receivers: ["bob"], by: "override" }
const ON_CALL = {
  name: "primary",
  now: { receivers: TURN.receivers, by: "turn", until: TURN.to },
  next: { receivers: TAKEN.receivers, by: "override", from: TAKEN.from, until: TAKEN.to },
}
const parameters = { name: "primary" }
const OVERRIDE_NAME = { ...parameters, id: OVERRIDE.id }

const rotas: Operations = {
  listRotas: {
    summary: "List who is on call",
    description: "Lists the rotas of the policy, each with who is on call now, who comes next, and when.",
    success: { usual: ["One rota", { items: [ON_CALL] }] },
  },
  getRota: {
    summary: "Show a rota",
    description:
      "Shows the turns of a rota in a span, cut by its overrides, and receivers on call that get no messages. Answers 400 for more than 366 days or 1,000 turns.",
    parameters: { ...parameters, from: TURN.from, to: TAKEN.to },
    success: example("usual", "A turn that another receiver takes over for a day", {
      ...ON_CALL,
      tz: "Europe/Berlin",
      turns: [TURN, TAKEN],
      overrides: [OVERRIDE],
      gaps: [
        {
          from: TAKEN.from,
          to: TAKEN.to,
          receiver: "bob",
          reason: "quiet",
          message:
            "bob is quiet at times, when firings below critical wait: name one without quiet hours beside it",
        },
      ],
      calendar: `https://tocsin.example/on-call/${"5d41402abc4b2a76".repeat(4)}.ics`,
    }),
  },
  listOverrides: {
    summary: "List overrides of a rota",
    description: "Lists the overrides of a rota that have not ended, or that end after a time.",
    parameters: { ...parameters, from: TURN.from },
    success: { usual: ["An override to come", { items: [OVERRIDE] }] },
  },
  createOverride: {
    summary: "Take over a rota",
    description:
      "Puts receivers on call in a rota for a while, instead of its turn. The latest created counts. Answers 409 for a receiver that is a shadow or that no running server can use, and if 1,000 overrides are scheduled or active.",
    parameters,
    request: {
      now: ["From now on", { to: OVERRIDE.to, receivers: ["bob"] }],
      later: [
        "Later, with a note",
        { from: OVERRIDE.from, to: OVERRIDE.to, receivers: ["bob"], note: OVERRIDE.note },
      ],
    },
    success: { created: ["Created", OVERRIDE] },
  },
  endOverride: {
    summary: "End an override now",
    description:
      "Ends an override: who is on call without it comes on call. The count is 0 if it had ended or does not exist.",
    parameters: OVERRIDE_NAME,
    ...counted("The override has ended", 1),
  },
}

export const onCall = {
  tags: [["On call", "Rotas of the policy, and receivers that stand in for a while.", rotas]],
  beside: { routes: CalendarRoutes.routes, layer: CalendarRoutes.layer },
  useCases: useCasesOf("rotas", OnCall, (calls) => ({
    listRotas: () => calls.rotas,
    getRota: ({ params, query }) => calls.rota(params.name, query),
    listOverrides: ({ params, query }) => calls.overrides(params.name, query),
    createOverride: ({ params, payload }) => calls.override(params.name, payload),
    endOverride: ({ params }) => calls.endOverride(params.name, params.id),
  })),
} satisfies HttpPart
