/** How a remedy begins. Each word begins that of a message; a test keeps the list no longer. */
export const IMPERATIVES: ReadonlyArray<string> = [
  "accept acknowledge add apply ask call change check choose compare correct create delete enable end",
  "expire export extend find fix free generate get give grant ignore install leave let list look make move",
  "name point poll put raise recreate reload remove repeat replace report restore run see send serve set",
  "slow start stop synchronize try unset upgrade use wait withdraw write",
].flatMap((line) => line.split(" "))

/** A clause after a colon or a semicolon, or the whole message: "…; to end it now, expire it". */
const CLAUSE = /(?:^|[:;(] ?|, so |, then )(?:(?:to|for) [^,:;]+, )?(?:then )?([a-z]+)\b/g

/** The beginning of a rule for what was given: "SERVICE_PORT must …", "… takes …". */
const RULE = /^[^:;,(]* (?:must|takes)(?: not)? \w/

/** The imperatives with which clauses of a message begin. */
export const imperativesOf = (wording: string): ReadonlyArray<string> =>
  Array.from(wording.matchAll(CLAUSE), ([, word = ""]) => word).filter((word) => IMPERATIVES.includes(word))

/**
 * Whether a message itself says what to do, by an imperative or by the rule that was broken. It needs no
 * entry of docs/errors.md, which has one where there is more to say.
 */
export const statesRemedy = (wording: string): boolean =>
  imperativesOf(wording).length > 0 || RULE.test(wording)
