import { sandboxKeyModel, sandboxModel } from './model.ts'

/** The models of this neighbourhood's collections. */
export const models = [sandboxKeyModel, sandboxModel]
