// A plugin of oxlint: the folders of a package import each other in one direction, so that a reader can read them in
// that order. `.oxlintrc.json` has the list, the lowest folder first. Folders inside of one that is named as `apart`
// import each other in neither direction. `typesOf` has places whose types may be imported from below: those of
// records, of which a storage and a unit of work hold the rows.
import { dirname, join, relative } from "node:path"

/**
 * The folder of a file below `src` as the list names it: the innermost folder around it that is listed.
 *
 * @param {string} path relative to `src`
 * @param {readonly string[]} order
 */
const folderOf = (path, order) => {
  const own = dirname(path)
  for (let folder = own; folder !== "."; folder = dirname(folder)) if (order.includes(folder)) return folder
  return own
}

/**
 * A folder that is listed again after another one: the two import each other, in whatever order their parts are.
 *
 * @param {readonly string[]} order
 */
const cycleIn = (order) =>
  [1, 2].flatMap((depth) => {
    const folders = order.map((folder) => folder.split("/").slice(0, depth).join("/"))
    return folders.filter((folder, at) => folder !== folders[at - 1] && folders.indexOf(folder) < at)
  })[0]

/** Whether a declaration imports or exports types alone. @param {any} node */
const isOfTypes = ({ exportKind, importKind, specifiers = [] }) =>
  (importKind ?? exportKind) === "type" ||
  (specifiers.length > 0 &&
    specifiers.every((/** @type {any} */ one) => (one.importKind ?? one.exportKind) === "type"))

const oneDirection = {
  meta: { schema: [{ type: "object" }] },
  /** @param {any} context -- a rule's context, which oxlint does not type */
  create(context) {
    /** @type {{ readonly order: readonly string[], readonly apart?: string, readonly typesOf?: readonly string[] }} */
    const { apart, order, typesOf = [] } = context.options[0]
    const [, root, path] = /^(.*\/src)\/(.+)$/.exec(context.filename) ?? []
    if (root === undefined || path === undefined || !path.includes("/")) return {}
    const twice = cycleIn(order)
    if (twice !== undefined)
      throw new Error(
        `The order of folders in .oxlintrc.json has ${twice} in two places: put them side by side.`,
      )
    const own = folderOf(path, order)
    const rank = order.indexOf(own)
    /** @param {string} target */
    const faultOf = (target) => {
      const folder = folderOf(target, order)
      if (rank === -1) return `The order of folders in .oxlintrc.json lacks ${own}: add it.`
      if (folder === own && own === apart && path.split("/")[1] !== target.split("/")[1])
        return `${dirname(path)} and ${dirname(target)} are apart, so neither imports the other: move what both need down.`
      return order.indexOf(folder) > rank
        ? `${own} comes before ${folder} in the order of folders, so it cannot import it: turn the arrow round.`
        : undefined
    }
    /** @param {any} node -- a declaration with a source */
    const check = (node) => {
      const specifier = node.source?.value
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return
      const target = relative(root, join(dirname(context.filename), specifier))
      if (isOfTypes(node) && typesOf.some((place) => target === place || target.startsWith(`${place}/`)))
        return
      const message = faultOf(target)
      if (message !== undefined) context.report({ node, message })
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check }
  },
}

export default { meta: { name: "tocsin" }, rules: { "one-direction": oneDirection } }
