import { effect, signal } from "@preact/signals"
import { linkTo, parseRoute, type Route, routeText, withParameters } from "./Route.ts"

/** The page that is open. */
export const route = signal<Route>(parseRoute(location.hash))

window.addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash)
})

const lists = new Map<string, string>()
effect(() => {
  const { page, subject } = route.value
  if (subject.length === 0) lists.set(page, routeText(route.value))
})

/** The list that the reader came from, with its filters and its tab. */
export const backTo = (page: string): string => lists.get(page) ?? linkTo(page)

/** Opens an address of {@link linkTo}. */
export const go = (address: string): void => {
  location.hash = address
}

/** Changes parameters of the open page, without a step of the history unless it is asked for. */
export const setParameters = (changes: Readonly<Record<string, string>>, isStep = false): void => {
  const next = withParameters(route.value, changes)
  if (isStep) return go(routeText(next))
  history.replaceState(null, "", routeText(next))
  route.value = next
}
