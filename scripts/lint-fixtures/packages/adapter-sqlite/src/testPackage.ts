// refused: eslint(no-restricted-imports) Tools of the tests stay in test/
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"

export const refused = ScratchPostgres
