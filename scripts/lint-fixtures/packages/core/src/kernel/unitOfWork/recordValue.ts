// refused: tocsin(one-direction) kernel/unitOfWork comes before heart/model
import { type AgentRecord, newAgent } from "../../heart/model/AgentRecord.ts"

export const refused = (agent: AgentRecord): unknown => newAgent(agent)
