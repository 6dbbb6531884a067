import type { PolicyInForce } from "@tocsin/client"
import { useMatched } from "../view/matched.ts"
import { FormButton } from "./PolicyForm.tsx"
import { RouteForm } from "./RouteForm.tsx"
import type { PolicyRoute } from "./RouteForm.tsx"

/** More routes stand in the text alone. */
const MOST_SHOWN = 200

const receiversText = (names: ReadonlyArray<string> | undefined): string =>
  names?.join(", ") ?? "all receivers"

const routeText = ({ after, remind, steps, to }: PolicyRoute): string => {
  const [first, ...later] = steps ?? [{ to }]
  return [
    `to ${receiversText(first?.to)}${after === undefined ? "" : ` after ${after}`}`,
    ...later.map((step) => `after ${step.after} to ${receiversText(step.to)}`),
    ...(remind === undefined ? [] : [`reminds after ${remind}`]),
  ].join(", ")
}

/** The routes of the policy in force, each with its form, and one for another. */
export const Routes = ({ policy }: { readonly policy: PolicyInForce }) => {
  const { routes = [] } = policy.policy
  const shown = routes.slice(0, MOST_SHOWN)
  const textOf = useMatched(shown.map(({ match = [] }) => match))
  return (
    <>
      {routes.length > 0 && (
        <ul class="plain" aria-label="Routes">
          {shown.map((route, place) => (
            <li class="row" key={place}>
              <b>{route.match === undefined ? "everything" : textOf(route.match)}</b>
              <span class="subject">{routeText(route)}</span>
              <FormButton
                of={RouteForm}
                label="Change"
                describes={`Change route ${place + 1}`}
                path={["routes", String(place)]}
              />
            </li>
          ))}
        </ul>
      )}
      <p class="after">
        <FormButton of={RouteForm} label="Add a route" />
      </p>
    </>
  )
}
