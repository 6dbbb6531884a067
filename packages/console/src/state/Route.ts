/** A page with its subject and its parameters: all of a page's state that an address keeps. */
export interface Route {
  readonly page: string
  /** The subject of the page, such as an incident's id. */
  readonly subject: ReadonlyArray<string>
  readonly parameters: Readonly<Record<string, string>>
}

const HOME = "incidents"

/** A text that is not percent-encoded correctly stays as it is: anyone can type an address. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

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

/** Writes the fragment of a route; empty parameters are left out. */
export const routeText = ({ page, subject, parameters }: Route): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== "")
  const query = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
  return `#/${[page, ...subject].map(encodeURIComponent).join("/")}${query}`
}

/** The address of a page. */
export const linkTo = (
  page: string,
  subject: ReadonlyArray<string> = [],
  parameters: Readonly<Record<string, string>> = {},
): string => routeText({ page, subject, parameters })

/** The same page with some parameters changed; an empty one goes. */
export const withParameters = (route: Route, changes: Readonly<Record<string, string>>): Route => ({
  ...route,
  parameters: Object.fromEntries(
    Object.entries({ ...route.parameters, ...changes }).filter(([, value]) => value !== ""),
  ),
})
