import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { EVENTS_PER_BATCH } from "./Load.ts"

const checkId = (index: number): string => `check-${String(index).padStart(3, "0")}`

const SILENCES = 20

/** The bodies of silences, each of which covers one of the checks. */
export const silenceBodies = Array.from({ length: SILENCES }, (_, index) =>
  JSON.stringify({
    matchers: [{ field: "check_id", op: "=", value: checkId(index) }],
    for: "2h",
    comment: "the storm",
  }),
)

/** A route for each check. */
const routes = {
  routes: Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    match: [`check_id = ${checkId(index)}`],
    to: ["webhook"],
  })),
}

/** Every incident waits longer than the case takes, and is evaluated every five minutes, since labels may change. */
const everythingWaits = {
  routes: [
    { match: ["label:team = db"], to: ["webhook"] },
    { after: "7d", to: ["webhook"] },
  ],
}

const receiver = { kind: "debug" }

/** A policy of a team with shifts and a public page. */
const features = {
  receivers: { ann: receiver, bob: receiver, night: receiver },
  rotas: { primary: { tz: "Europe/Berlin", order: ["ann", "bob"], every: "7d", from: "2026-01-05T09:00" } },
  routes: [
    {
      match: ["severity = critical"],
      steps: [{ to: ["primary"] }, { after: "15m", to: ["night"] }],
      remind: "1h",
    },
    { match: ["label:team = db"], to: ["night"] },
  ],
  pages: {
    example: {
      title: "Example",
      groups: [{ title: "All", lines: [{ name: "First", match: ["check_id = check-000"] }] }],
    },
  },
}

const POLICIES = { routes, everythingWaits, features }

const settingOf = (folder: string, name: string, policy: object) => {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, JSON.stringify(policy))
  return { SERVICE_POLICY_FILE: file }
}

/** Writes a policy, and returns the setting that names it. */
export const policySetting = (folder: string, name: keyof typeof POLICIES) =>
  settingOf(folder, name, POLICIES[name])

/** The same of so many routes by agents, the last of which takes all. */
export const routesSetting = (folder: string, count: number) => {
  const others = Array.from({ length: count - 1 }, (_, index) => ({
    match: [`agent_id = another-${index}`],
    to: ["team"],
  }))
  return settingOf(folder, "manyRoutes", {
    receivers: { team: receiver },
    routes: [...others, { to: ["team"] }],
  })
}
