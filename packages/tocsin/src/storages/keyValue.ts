import { group, isText, required } from "@tocsin/client/options/readers"
import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import type { StorageChoice } from "./storages.ts"

const read = group<KeyValueStorage.KeyValueOptions>()({
  name: required(isText, "a string that is not empty"),
  open: required((given) => typeof given === "function", "a function that opens the store"),
})

/**
 * A storage over your own key-value store of three functions. It passes the suite of all storages
 * if the store keeps its promises. Monitors of one process with the same choice share one opened
 * store.
 *
 * @example
 * ```ts
 * const storage = keyValue({ name: "LevelDB", open: async () => levelStore(await openLevel("monitoring")) })
 * const monitor = await createMonitor({ storage })
 * ```
 */
export const keyValue = (options: KeyValueStorage.KeyValueOptions): StorageChoice => {
  const problems: Array<string> = []
  const given = Object(options) as KeyValueStorage.KeyValueOptions
  read("", Object(options), (problem) => void problems.push(`keyValue: ${problem}`))
  return { name: given.name, problems, layer: KeyValueStorage.layer(given) }
}
