import type { Watch } from "@tocsin/client"
import { type FormField, type Texts, withOption } from "../../view/FormField.ts"
import { refusal } from "../../view/formFault.ts"
import { HERE, type Places } from "./Places.tsx"

const FAILS = [["majority"], ["any"], ["all"]] as const
/** The places that a form has chosen. */
export const chosenIn = ({ from = "" }: Texts): ReadonlyArray<string> =>
  from.split(",").filter((name) => name !== "")

const OTHER_PLACES = "“Add a place” below adds a host."

/** The fields of places. */
export const placeFields = (
  former: Watch | undefined,
  places: Places,
): Readonly<Record<string, FormField>> => {
  const from = former?.from ?? [HERE]
  const boxes = Array.from(new Set([...places.map(({ place }) => place), ...from]))
  const fails = `${former?.fails ?? "majority"}`
  const counts = boxes.map((_, place) => [`${place + 1}`] as const)
  return {
    from: {
      label: "From",
      initial: from.join(),
      hint: OTHER_PLACES,
      ...(boxes.length > 1 ? { boxes } : { disabled: true }),
    },
    fails: {
      label: "Fails by",
      options: withOption([...FAILS, ...counts], fails),
      initial: fails,
      isAsked: (texts) => chosenIn(texts).length > 1,
    },
  }
}

/** The places, where they are others than before: servers of earlier versions know none. */
export const placesIn = (
  texts: Texts,
  former: Pick<Watch, "fails" | "from"> = { fails: "majority", from: [HERE] },
) => {
  const from = chosenIn(texts)
  if (from.length === 0) throw refusal("Choose a place from which to probe.")
  const fails = from.length === 1 ? "majority" : Number(texts["fails"]) || texts["fails"]
  return from.join() === former.from.join() && fails === former.fails ? {} : { from, fails }
}
