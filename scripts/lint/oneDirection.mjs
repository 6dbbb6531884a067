// A plugin of oxlint: the folders of a package import each other in one direction, so that a reader
// can read them in that order. `.oxlintrc.json` has the list, the lowest folder first.
import { dirname, join, relative } from "node:path"

/**
 * The folder of a file below `src` as the list names it: with its own subfolder if that is listed.
 *
 * @param {string} path relative to `src`
 * @param {readonly string[]} order
 */
const folderOf = (path, order) => {
  const [first = "", second = ""] = path.split("/")
  const nested = `${first}/${second}`
  return order.includes(nested) ? nested : first
}

/**
 * A folder that is listed again after another one: the two import each other, in whatever order their parts are.
 *
 * @param {readonly string[]} order
 */
const cycleIn = (order) => {
  const folders = order.map((folder) => folder.split("/")[0] ?? "")
  return folders.find((folder, at) => folder !== folders[at - 1] && folders.indexOf(folder) < at)
}

const oneDirection = {
  meta: { schema: [{ type: "object" }] },
  /** @param {any} context -- a rule's context, which oxlint does not type */
  create(context) {
    /** @type {readonly string[]} */
    const order = context.options[0].order
    const [, root, path] = /^(.*\/src)\/(.+)$/.exec(context.filename) ?? []
    if (root === undefined || path === undefined || !path.includes("/")) return {}
    const twice = cycleIn(order)
    if (twice !== undefined)
      throw new Error(
        `The order of folders in .oxlintrc.json has ${twice} in two places: put them side by side.`,
      )
    const own = folderOf(path, order)
    const rank = order.indexOf(own)
    /** @param {any} node -- a declaration with a source */
    const check = (node) => {
      const specifier = node.source?.value
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return
      const target = relative(root, join(dirname(context.filename), specifier))
      const folder = folderOf(target, order)
      if (folder === own) return
      const message =
        rank === -1
          ? `The order of folders in .oxlintrc.json lacks ${own}: add it.`
          : `${own} comes before ${folder} in the order of folders, so it cannot import it: turn the arrow round.`
      if (rank === -1 || order.indexOf(folder) > rank) context.report({ node, message })
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check }
  },
}

export default { meta: { name: "tocsin" }, rules: { "one-direction": oneDirection } }
