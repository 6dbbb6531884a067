/** The module of an extension: a key-value store in a JSON file of the working directory, and a lock beside it. */
export const JSON_STORE = `import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
const open = async () => {
  writeFileSync("store.lock", "", { flag: "wx" })
  let entries = new Map(existsSync("store.json") ? JSON.parse(readFileSync("store.json", "utf8")) : [])
  return {
    load: () => entries,
    write: async (changes) => {
      const next = new Map(entries)
      for (const [key, value] of changes) value === undefined ? next.delete(key) : next.set(key, value)
      writeFileSync("store.new", JSON.stringify([...next]), { flush: true })
      renameSync("store.new", "store.json")
      entries = next
    },
    close: async () => rmSync("store.lock"),
  }
}
export default { storage: { name: "a JSON file", open } }
`
