const rejectUndefined = (value: unknown, path: string): void => {
  if (value === undefined) {
    throw new TypeError(`SQL parameter ${path} is undefined: pass null where NULL is meant`)
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      rejectUndefined(value[index], `${path}[${index}]`)
    }
  }
}

/**
 * The parameters as the driver takes them. The driver would send `undefined`, also within an array, as NULL; here it
 * is a defect that names its place (`$2[17]`), since a forgotten value must not become a stored one.
 */
export const checkedParameters = (parameters: ReadonlyArray<unknown>): Array<unknown> => {
  for (let index = 0; index < parameters.length; index++) {
    rejectUndefined(parameters[index], `$${index + 1}`)
  }
  return parameters.slice()
}
