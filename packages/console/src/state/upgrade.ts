import { signal } from "@preact/signals"
import { base } from "./session.ts"

/** Whether the server has another console than this one, as after an upgrade. */
export const isOutdated = signal(false)

const SCRIPT = /console\/app\.js\?v=[0-9a-f]+/

/** Compares this script's address, which names its content, with the one that the server links to. */
export const lookForUpgrade = async (): Promise<void> => {
  const headers = { accept: "text/html" }
  const answer = await fetch(base, { headers, cache: "no-store", credentials: "omit" })
  const [served] = SCRIPT.exec(await answer.text()) ?? []
  if (served !== undefined) isOutdated.value = !import.meta.url.endsWith(served)
}
