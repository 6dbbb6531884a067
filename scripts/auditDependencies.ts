import { fileURLToPath } from "node:url"
import { Lock } from "./build/Lock.ts"
import { npm } from "./build/npm.ts"

interface Report {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly nodes: ReadonlyArray<string> }>
  >
  readonly message?: string
}

const root = fileURLToPath(new URL("..", import.meta.url))

/** Where the packages are installed that are part of a release, and that a clone bundles the server with. */
const releasedPlaces = (): ReadonlySet<string> => {
  const lock = new Lock(root)
  const places = new Set<string>()
  const add = (place: string): void => {
    if (places.has(place)) return
    places.add(place)
    for (const needed of lock.needsOf(place)) add(needed)
  }
  for (const folder of ["tocsin", "server", "agent"]) add(`packages/${folder}`)
  return places
}

/**
 * Asks the registry for known vulnerabilities of the packages that are part of a release. A registry
 * that does not answer fails nothing: the answer depends on the network, not on the change.
 */
export const auditDependencies = async (
  registry?: string,
): Promise<{ readonly passed: boolean; readonly output: string }> => {
  const from = registry === undefined ? [] : [`--registry=${registry}`]
  const { stdout } = await npm(root, [
    "audit",
    "--json",
    "--fetch-retries=0",
    "--fetch-timeout=20000",
    ...from,
  ])
  let report: Report = {}
  try {
    report = JSON.parse(stdout) as Report
  } catch {
    // npm writes no JSON when it fails before the request.
  }
  if (report.vulnerabilities === undefined)
    return { passed: true, output: `left out: ${report.message ?? "the registry does not answer"}` }
  const places = releasedPlaces()
  const found = Object.entries(report.vulnerabilities).filter(([, { nodes }]) =>
    nodes.some((place) => places.has(place)),
  )
  return {
    passed: found.length === 0,
    output: found
      .map(([name, { severity }]) => `${name}: a vulnerability of severity ${severity}\n`)
      .join(""),
  }
}
