import type { AgentId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { storedTable, text, uuid } from "../../kernel/model/TableShape.ts"

/** A registration whose agent is deleted; its checks and history are removed later. */
export const removed_registration = storedTable({
  name: "removed_registration",
  key: ["registration_id"],
  columns: { agent_id: text<AgentId>(), registration_id: uuid<RegistrationId>() },
})
