import { attempt } from "./kept.ts"

/** A page with its subject and its parameters: all of a page's state that an address keeps. */
export interface Route {
  readonly page: string
  readonly subject: ReadonlyArray<string>
  readonly parameters: Readonly<Record<string, string>>
}

export const HOME = "overview"

/** A text that is not percent-encoded correctly stays as it is: anyone can type an address. */
const decoded = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text

/** Reads the fragment of an address: `#/incidents/ID?tab=notes`. */
export const parseRoute = (fragment: string): Route => {
  const text = fragment.replace(/^#?\/?/, "")
  const at = text.indexOf("?")
  const path = at === -1 ? text : text.slice(0, at)
  const [page = "", ...subject] = path.split("/").map(decoded)
  return {
    page: page === "" ? HOME : page,
    subject: subject.filter((part) => part !== ""),
    parameters: Object.fromEntries(new URLSearchParams(at === -1 ? "" : text.slice(at + 1))),
  }
}

export const routeText = ({ page, subject, parameters }: Route): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== "")
  const query = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
  return `#/${[page, ...subject].map(encodeURIComponent).join("/")}${query}`
}

export const linkTo = (
  page: string,
  subject: ReadonlyArray<string> = [],
  parameters: Readonly<Record<string, string>> = {},
): string => routeText({ page, subject, parameters })

export const withParameters = (route: Route, changes: Readonly<Record<string, string>>): Route => ({
  ...route,
  parameters: Object.fromEntries(
    Object.entries({ ...route.parameters, ...changes }).filter(([, value]) => value !== ""),
  ),
})

/** Selected ids, in their order, as an address keeps them. */
export type Selection = ReadonlyArray<string>

export const MOST_SELECTED = 200

export const parseSelection = (text: string | undefined): Selection =>
  Array.from(new Set((text ?? "").split(",").filter((id) => id !== ""))).slice(0, MOST_SELECTED)

export const selectionText = (selection: Selection): string => selection.join(",")

export const toggled = (selection: Selection, id: string): Selection =>
  selection.includes(id)
    ? selection.filter((each) => each !== id)
    : [...selection, id].slice(0, MOST_SELECTED)

export const withRange = (
  selection: Selection,
  ids: ReadonlyArray<string>,
  from: string,
  to: string,
): Selection => {
  const ends = [ids.indexOf(from), ids.indexOf(to)].filter((index) => index !== -1)
  if (ends.length === 0) return selection
  const range = ids.slice(Math.min(...ends), Math.max(...ends) + 1)
  return Array.from(new Set([...selection, ...range])).slice(0, MOST_SELECTED)
}
