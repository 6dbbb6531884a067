import type { Happening, Policy, Rota } from "./Story.ts"

/** Rotas of cases. Stories begin at 08:30. */
export const ALL = ["chat", "pager", "mail"]

/** Turns of an hour: chat has it until 09:00, which is second 1,800, then pager until second 5,400, then chat. */
export const HOURLY: Rota = { order: [["chat"], ["pager"]], every: 3_600, from: "2031-02-01T08:00" }
export const OTHER_WAY: Rota = { ...HOURLY, order: [["pager"], ["chat"]] }

export const of = (primary: Rota, more: Policy = {}): Policy => ({
  rotas: { primary },
  routes: [{ to: ["primary"] }],
  ...more,
})
export const PRIMARY = of(HOURLY)

/** An incident of second 20 in their turns. */
export const BEGUN = ["20 chat firing opened critical", "1800 pager firing opened critical"]

/** Others take the rota over, at once or so many seconds later. */
export const override = (receivers: ReadonlyArray<string>, lasts: number, after = 0): Happening => ({
  step: "override",
  rota: "primary",
  receivers,
  after,
  lasts,
})
