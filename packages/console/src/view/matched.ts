import type { ExpectedCheckState } from "@tocsin/client"
import { useCallback } from "preact/hooks"
import { listOf } from "../state/lists.ts"
import { idOfCheck } from "../state/names.ts"
import { useResource } from "./usePages.ts"

/** The ID of the check that matchers name, if they name one. */
export const checkNamed = (match: ReadonlyArray<string>): string | undefined => {
  const [, agent, check] = /^agent_id = ([^,/]+),check_id = ([^,]+)$/.exec(match.join()) ?? []
  return check === undefined ? undefined : `${agent}/${check}`
}

/** Each title is a request. */
const MOST_READ = 50

/** Matchers as people read them: one check by its title and ID, where it has a title. */
export const useMatched = (lists: ReadonlyArray<ReadonlyArray<string>>) => {
  const ids = Array.from(new Set(lists.flatMap((match) => checkNamed(match) ?? []))).slice(0, MOST_READ)
  const { value: titles } = useResource(`titles of ${ids.join("\n")}`, [], async () => {
    const found: Array<readonly [id: string, title: string]> = []
    for (const search of ids) {
      const { items } = await listOf<ExpectedCheckState>("ops/v1/checks", { search }, MOST_READ).read(
        undefined,
      )
      const title = items.find((check) => idOfCheck(check) === search)?.title
      if (typeof title === "string") found.push([search, title])
    }
    return found
  })
  return useCallback(
    (match: ReadonlyArray<string>): string => {
      const id = checkNamed(match)
      const [, title] = titles?.find(([each]) => each === id) ?? []
      return title === undefined ? match.join(", ") : `${title} (${id})`
    },
    [titles],
  )
}
