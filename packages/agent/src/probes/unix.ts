import { record } from "../config/Reader.ts"
import { absolutePath } from "./mounts.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { exchangeAt, exchangeFields } from "./tcp.ts"

const reader = record({ path: absolutePath, ...exchangeFields }, ["path"])

/** The exchange of the tcp probe, over a Unix socket. */
export const unix: Probe<SettingsOf<typeof reader>> = {
  title: "UNIX",
  lane: "host",
  reader,
  run: async ({ path = "", ...settings }, around) =>
    await exchangeAt(path, () => ({ path }), settings, around),
}
