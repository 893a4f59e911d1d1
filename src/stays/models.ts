import { bookingModel } from './bookings/model.ts'
import { conversationModel, messageModel } from './messages/model.ts'
import { userModel } from './users/model.ts'

/** The models of this neighbourhood's collections. */
export const models = [bookingModel, conversationModel, messageModel, userModel]
