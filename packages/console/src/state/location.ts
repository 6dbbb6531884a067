import { effect, signal } from "@preact/signals"
import { keepLatest } from "./keepLatest.ts"
import { linkTo, parseRoute, type Route, routeText, withParameters } from "./Route.ts"

/** The page that is open. */
export const route = signal<Route>(parseRoute(location.hash))

/** Where the rows of each page began in the window when the reader left it, by its address. */
const places = new Map<string, number>()
const PLACES_KEPT = 100

/** The state of each step of the history that was open: a way to one of them is a way back. */
const OPENED = "opened"
// The browser would scroll before there are rows.
history.scrollRestoration = "manual"
history.replaceState(OPENED, "")

let back = ""
/** Names the address that a link or a key leads back to, rather than opens from its top. */
export const asBack = (address: string): string => (back = address)

let place = 0
/** Where the rows of the page began when the reader left it, after a way back; above the window if negative. */
export const takePlace = (): number => {
  const taken = place
  place = 0
  return taken
}

window.addEventListener("hashchange", () => {
  const top = document.querySelector(".rows")?.getBoundingClientRect().top
  keepLatest(places, PLACES_KEPT, routeText(route.peek()), top ?? 0)
  const next = parseRoute(location.hash)
  const address = routeText(next)
  place = history.state === OPENED || back === address ? (places.get(address) ?? 0) : 0
  back = ""
  history.replaceState(OPENED, "")
  window.scrollTo(0, 0)
  route.value = next
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
  history.replaceState(OPENED, "", routeText(next))
  route.value = next
}
