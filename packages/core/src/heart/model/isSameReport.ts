type Flat = Readonly<Record<string, string | boolean>>

/** Whether an agent reports the same labels, or features. A plain loop, because every heartbeat asks. */
export const isSameReport = (before: Flat | undefined, after: Flat | undefined): boolean => {
  if (before === after) return true
  if (before === undefined || after === undefined) return false
  const names = Object.keys(before)
  if (names.length !== Object.keys(after).length) return false
  for (const name of names) if (before[name] !== after[name]) return false
  return true
}
