import { Struct } from "effect"
import type { UnitTables } from "../kernel/unitOfWork/KeyedTables.ts"
import type { TableOptions } from "../kernel/unitOfWork/Table.ts"
import { UnitOfWork } from "../kernel/unitOfWork/UnitOfWork.ts"
import {
  forNames,
  groupText,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyOf,
  keyedShape,
  type Keys,
  keyText,
  storedTables,
} from "./StoredTables.ts"

const itself = (id: string): string => id

const tables: UnitTables = {
  agents: { ...storedTables.agent, idOf: (row) => row.agent_id, keyOf: itself },
  checks: {
    name: "check",
    idOf: (row) => row,
    // A registration belongs to one agent.
    partOf: (ref) => ref.registration_id,
    keyOf: (ref) => ref.check_id,
  },
  incidents: { ...storedTables.incident, idOf: (row) => row.id, keyOf: itself },
  openIncidents: {
    name: "open incident",
    idOf: (row) => row,
    partOf: (ref) => ref.kind,
    keyOf: (ref) => ref.incident_key,
  },
  keyed: forNames<KeyedName, UnitTables["keyed"]>(
    keyedNames,
    <N extends KeyedName>(name: N): TableOptions<Keys[N], KeyedRows[N]> => ({
      name,
      idOf: (row) => keyOf(name, row),
      keyOf: (key) => keyText(name, key),
      groupsOf: (row) => [groupText(name, row)],
      // Options that the declaration has.
      ...Struct.pick(keyedShape(name), ["groupsOf", "keyOf", "partOf", "topicsOf"]),
    }),
  ),
  noChanges: forNames<KeyedName, UnitTables["noChanges"]>(keyedNames, () => []),
  groupText,
}

/** A unit of work over all tables, which has no rows yet. */
export const openUnit = (): UnitOfWork => new UnitOfWork(tables)
