const LABEL = "service_agent_version"

const partsOf = (version: string | undefined): ReadonlyArray<number> | undefined =>
  /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? "")
    ?.slice(1)
    .map(Number)

/** Whether an agent has an older version than the server, as far as both are known. */
export const isOutdated = (
  labels: Readonly<Record<string, string>> = {},
  server: string | undefined,
): boolean => {
  const [own, current] = [partsOf(labels[LABEL]), partsOf(server)]
  if (own === undefined || current === undefined) return false
  const at = own.findIndex((part, index) => part !== current[index])
  return at >= 0 && (own[at] ?? 0) < (current[at] ?? 0)
}
