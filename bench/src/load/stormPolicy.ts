import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { EVENTS_PER_BATCH } from "./Load.ts"

const check = (index: number): string => `check_id = check-${String(index).padStart(3, "0")}`

const WINDOWS = 20

/** A route for each check, and windows in force that cover twenty of them. */
const routesAndWindows = {
  routes: Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    match: [check(index)],
    to: ["webhook"],
  })),
  windows: Array.from({ length: WINDOWS }, (_, index) => ({
    name: `window-${index}`,
    cron: "0 * * * *",
    tz: "Europe/Berlin",
    for: "2h",
    match: [check(index)],
  })),
}

/** Every incident waits longer than the case takes. */
const everythingWaits = { routes: [{ after: "7d", to: ["webhook"] }] }

const POLICIES = { routesAndWindows, everythingWaits }

/** Writes a policy, and returns the setting that names it. */
export const policySetting = (folder: string, name: keyof typeof POLICIES) => {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, JSON.stringify(POLICIES[name]))
  return { SERVICE_POLICY_FILE: file }
}
