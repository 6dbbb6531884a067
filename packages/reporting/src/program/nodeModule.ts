/** A module of Node.js, where there is one. An import of it would not load in browsers. */
export const nodeModule = <Module>(name: `node:${string}`): Module | undefined => {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  }
  // The caller names the part of the module that it uses.
  return process?.getBuiltinModule?.(name) as Module | undefined
}
