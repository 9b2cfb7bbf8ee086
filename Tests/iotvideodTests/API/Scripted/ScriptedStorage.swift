import GatewayAPI

@testable import Gateway

/// A camera without recordings.
struct ScriptedStorage: GatewayStorage {
    let session: ScriptedSession

    func detail(_ device: String, channel: Int) async throws -> StorageDetail {
        try session.note()
        return StorageDetail(status: 3, start: 0, end: 0, days: 0)
    }

    func days(_ device: String, timezone: Int64) async throws -> StorageDays {
        try session.note()
        return StorageDays(list: [])
    }

    func playList(_ device: String, in times: Range<Int64>) async throws -> StoragePlayList {
        try session.note()
        return StoragePlayList(list: [])
    }

    func events(_ device: String, _ query: StorageEventQuery) async throws -> StorageEvents {
        try session.note()
        return StorageEvents(imgUrlPrefix: "", list: [], validVideoStartTime: 0, pageEnd: true)
    }

    func address(_ device: String, from start: Int64, to end: Int64?) async throws -> StorageAddress {
        try session.note()
        return StorageAddress(url: "/", startTime: start, endTime: end ?? start, endflag: true)
    }
}
