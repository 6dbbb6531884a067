import { route } from "../state/location.ts"
import { routeText, withParameters } from "../state/Route.ts"

interface HeadProps {
  readonly name: string
  readonly sort: string
}

/** A head that sorts: up, then down, then as the list came. */
export const SortHead = ({ name, sort }: HeadProps) => {
  const now = route.value.parameters["sort"]
  const [order, next]: readonly [order: "up" | "down" | undefined, next: string] =
    now === sort ? ["up", `-${sort}`] : now === `-${sort}` ? ["down", ""] : [undefined, sort]
  return (
    <a
      href={routeText(withParameters(route.value, { sort: next }))}
      class={order}
      aria-current={order && "true"}
    >
      {name}
    </a>
  )
}
