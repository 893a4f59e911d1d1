import type { Db } from '../../platform/mongo/connection.ts'
import type { Topics } from '../../platform/outbox/outbox.ts'
import { compactAvailabilityTopic, compactRoomType } from './compaction.ts'

/** The outbox topics of availability. */
export function availabilityJobs({ db }: { db: Db }): Topics {
  return {
    [compactAvailabilityTopic]: {
      async run({ host_id, room_type_ids }) {
        for (const roomTypeId of room_type_ids as number[])
          await compactRoomType(db, host_id as number, roomTypeId)
      },
    },
  }
}
