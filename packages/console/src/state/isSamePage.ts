import { linkTo, type Route } from "./Route.ts"

/** Whether two addresses lead to one page, whatever its filters. */
export const isSamePage = (one: Route, other: Route): boolean =>
  linkTo(one.page, one.subject) === linkTo(other.page, other.subject)
