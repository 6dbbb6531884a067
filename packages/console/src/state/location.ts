import { effect, signal } from "@preact/signals"
import { replaceStep } from "./browser.ts"
import { attempt, keep, kept } from "./kept.ts"
import { keepLatest } from "./keepLatest.ts"
import { HOME, linkTo, parseRoute, type Route, routeText, withParameters } from "./Route.ts"

export const route = signal<Route>(parseRoute(location.hash))

/** Where a reader left a page: where its rows began, above the window if negative, and the row with the focus. */
interface Place {
  readonly top: number
  readonly row: string | undefined
}
const TOP: Place = { top: 0, row: undefined }

/** Where the reader left each page, by its address. */
const places = new Map<string, Place>()
const PLACES_KEPT = 100

/** The state of each step of the history that was open: a way to one of them is a way back. */
const OPENED = "opened"
// The browser would scroll before there are rows.
attempt(() => (history.scrollRestoration = "manual"))
replaceStep(OPENED)

let back = ""
/** Names the address that a link or a key leads back to, rather than opens from its top. */
export const asBack = (address: string): string => (back = address)

const PLACE_KEY = "tocsin.place"

/** The place that a page which is loaded again was left at. */
const placeOfReload = (): Place => {
  const [navigation] = performance.getEntriesByType("navigation")
  const isReload = navigation instanceof PerformanceNavigationTiming && navigation.type === "reload"
  // Anyone can write anything into it.
  const left = kept("sessionStorage", PLACE_KEY) as Partial<Record<"address" | "top", unknown>> | null
  const isHere = isReload && left?.address === routeText(route.peek())
  return isHere && typeof left.top === "number" ? { top: left.top, row: undefined } : TOP
}

let place = attempt(placeOfReload) ?? TOP
/** Where the reader left the page, after a way back. */
export const takePlace = (): Place => {
  const taken = place
  place = TOP
  return taken
}

export const focusedId = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>("[data-id]")?.dataset["id"]

const topOfRows = (): number => document.querySelector(".rows")?.getBoundingClientRect().top ?? 0

window.addEventListener("pagehide", () => {
  keep("sessionStorage", PLACE_KEY, { address: routeText(route.peek()), top: topOfRows() })
})

window.addEventListener("hashchange", () => {
  const top = topOfRows()
  keepLatest(places, PLACES_KEPT, routeText(route.peek()), { top, row: focusedId() })
  const next = parseRoute(location.hash)
  const address = routeText(next)
  place = history.state === OPENED || back === address ? (places.get(address) ?? TOP) : TOP
  back = ""
  replaceStep(OPENED)
  window.scrollTo(0, 0)
  route.value = next
})

const lists = new Map<string, string>()
effect(() => {
  const { page, subject } = route.value
  if (page === HOME) lists.clear()
  if (subject.length === 0) lists.set(page, routeText(route.value))
})

/** Where the reader came from: the list, with its filters and its tab, or the overview after it. */
export const backTo = (page: string): string => lists.get(page) ?? lists.get(HOME) ?? linkTo(page)

export const go = (address: string): void => {
  location.hash = address
}

/** Leads elsewhere without a step of the history. */
export const setRoute = (address: string): void => {
  replaceStep(OPENED, address)
  route.value = parseRoute(address)
}

/** Changes parameters of the open page, without a step of the history. */
export const setParameters = (changes: Readonly<Record<string, string>>): void =>
  setRoute(routeText(withParameters(route.value, changes)))
