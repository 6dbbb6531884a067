import { route } from "../state/location.ts"
import { routeText, withParameters } from "../state/Route.ts"

interface HeadProps {
  readonly name: string
  readonly sort: string
}

/** A head that sorts: up, then down, then as the list came. */
export const SortHead = ({ name, sort }: HeadProps) => {
  const now = route.value.parameters["sort"]
  const [up, down] = [now === sort, now === `-${sort}`]
  const next = up ? `-${sort}` : down ? "" : sort
  return (
    <a
      href={routeText(withParameters(route.value, { sort: next }))}
      class={up ? "up" : down ? "down" : undefined}
      aria-current={up || down ? "true" : undefined}
    >
      {name}
    </a>
  )
}
