import process from "node:process"

/**
 * Modules of Node.js whose import reads all of their properties: that of `node:http` loads undici for
 * its WebSocket, that of `node:tls` reads the certificates. Taken without an import, a program starts
 * with a tenth less of processor time. `node:sqlite`, and parts of `node:util`, are not in an older
 * Node.js, which would end at their import before the agent says so.
 */
const TAKEN = new Set(["node:http", "node:https", "node:sqlite", "node:tls", "node:util"])

/** Licences, and what further bundlers read. */
export const COMMENTS = { legal: true, annotation: true, jsdoc: false }

/** Short names of variables and no line breaks. Functions and classes keep their names in traces. */
export const DENSE = {
  compress: false,
  mangle: { keepNames: { function: true, class: true } },
  codegen: true,
}

/**
 * A module that takes the plain properties of one of {@link TAKEN}.
 *
 * @param {string} name
 */
function taking(name) {
  const properties = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name))
  const plain = Object.keys(properties).filter((property) => "value" in (properties[property] ?? {}))
  return `const module = globalThis.process.getBuiltinModule("${name}")
export const { ${plain.join(", ")} } = module
export default module`
}

/** Has a bundle take these modules instead of importing them. */
export const takenModules = {
  name: "taken",
  /** @param {string} name */
  resolveId: (name) => (TAKEN.has(name) ? `\0${name}` : null),
  /** @param {string} id */
  load: (id) => (TAKEN.has(id.slice(1)) ? taking(id.slice(1)) : null),
}
