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

/** Writes a policy, and returns the setting that names it. */
export const policySetting = (folder: string, name: keyof typeof POLICIES) => {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, JSON.stringify(POLICIES[name]))
  return { SERVICE_POLICY_FILE: file }
}
