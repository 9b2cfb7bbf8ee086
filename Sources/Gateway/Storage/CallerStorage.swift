import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import RecordingStore

struct CallerStorage: GatewayStorage {
    private static let day: Int64 = 86_400
    /// The longest playlist of an address, s: about 900 parts.
    private static let longestAddress: Int64 = 3_600
    private static let ever: Range<Int64> = 0..<Int64.max
    /// The times of a day are far fewer; more is damage.
    private static let mostTimes = 100_000

    let session: CallerSession
    var recordings: CallerRecordings { CallerRecordings(session: session) }

    func detail(_ device: String, channel: Int) async throws -> StorageDetail {
        guard channel == 0 else {
            throw IoTError(.callTargetNotFound, "the device has no source \(channel)", remedy: "use channel 0")
        }
        switch try await recordings.place(device) {
        case .elsewhere(let other): return StorageDetail(try await other.summary())
        case .nowhere: return StorageDetail(status: try await isRecorded(device) ? 1 : 3, start: 0, end: 0, days: 0)
        case .here(let camera, let access):
            let isRecorded = try await isRecorded(device)
            let (first, last) = try await firstAndLast(device, in: Self.ever)
            let age = access.library.limits(of: camera).age ?? 0
            return StorageDetail(
                isRecorded: isRecorded, first: first.map { $0.start / 1_000 },
                last: last.map { ($0.end + 999) / 1_000 },
                days: Int(age / (Self.day * 1_000_000)))
        }
    }

    func days(_ device: String, timezone: Int64) async throws -> StorageDays {
        let days = try await recordings.days(device, in: Self.ever, by: .offset(timezone))
        var list = StorageDays(list: days.days.map { $0.start / 1_000 })
        list.asOf = days.asOf.map { $0 / 1_000 }
        return list
    }

    func playList(_ device: String, in times: Range<Int64>) async throws -> StoragePlayList {
        let end = times.lowerBound.addingReportingOverflow(Self.day)
        let times = times.lowerBound..<min(times.upperBound, end.overflow ? .max : end.partialValue)
        let (recorded, asOf) = try await self.times(device, in: times.scaled(by: 1_000))
        var list = StoragePlayList(
            list: recorded.map { time in
                StoragePlayList.Item(start: time.start / 1_000, end: (time.end + 999) / 1_000)
            })
        list.asOf = asOf.map { $0 / 1_000 }
        return list
    }

    func address(_ device: String, from start: Int64, to end: Int64?) async throws -> StorageAddress {
        let wanted = (start..<max(start, end ?? Int64.max)).scaled(by: 1_000)
        let (first, last) = try await firstAndLast(device, in: wanted)
        guard let first, let last else { throw CallerRecordings.nothing }
        // A gap before the first recording does not count.
        let from = max(start, first.start / 1_000)
        let newest = (last.end + 999) / 1_000
        let whole = min(end ?? newest, newest)
        let isWhole = whole - from <= Self.longestAddress
        let to = isWhole ? max(whole, from) : from + Self.longestAddress
        let key = try await session.gateway.storageKeys.key(of: session, device)
        var query = "from=\(from * 1_000)"
        // Without an end, the playlist grows.
        if end != nil || !isWhole { query += "&to=\(to * 1_000)" }
        let path = "/v1/devices/\(key.device)/recordings/playlist.m3u8?\(query)&key=\(key.text)"
        return StorageAddress(url: path, startTime: from, endTime: to, endflag: isWhole)
    }

    private func isRecorded(_ device: String) async throws -> Bool {
        let id = try await session.find(device).id
        return await session.gateway.fleet.cameras().contains {
            $0.device.rawValue == id && $0.settings.record != .none
        }
    }

    /// - Parameter times: ms since 1970.
    private func firstAndLast(
        _ device: String, in times: Range<Int64>
    ) async throws -> (first: Recording?, last: Recording?) {
        let first = try await recordings.list(device, RecordedTimeQuery(times: times, limit: 1))
        guard let oldest = first.recordings.first else { return (nil, nil) }
        let last = try await recordings.list(device, RecordedTimeQuery(times: times, newestFirst: true, limit: 1))
        return (oldest, last.recordings.first)
    }

    /// The beginning of the first recording, s since 1970; 0 without one.
    func first(_ device: String) async throws -> Int64 {
        if case .elsewhere(let other) = try await recordings.place(device) {
            return try await other.summary().times.first?.lowerBound ?? 0
        }
        let first = try await recordings.list(device, RecordedTimeQuery(times: Self.ever, limit: 1))
        return first.recordings.first.map { $0.start / 1_000 } ?? 0
    }

    /// What is recorded of a time in ms, without the gaps; and, while the camera's box is offline, when it was told.
    func times(
        _ device: String, in times: Range<Int64>
    ) async throws -> (times: [RecordedTime], asOf: Int64?) {
        var found: [RecordedTime] = []
        var asOf: Int64?
        var query = RecordedTimeQuery(times: times, limit: Int(RecordedTimeQuery.limits.upperBound))
        repeat {
            let page = try await recordings.ranges(device, query)
            found += page.ranges
            query.after = page.next
            asOf = page.asOf
        } while query.after != nil && found.count < Self.mostTimes
        return (RecordedTime.joined(found), asOf)
    }
}

extension StorageDetail {
    /// - Parameters:
    ///   - first: the beginning of the first recording, s since 1970.
    ///   - last: the end of the last one.
    fileprivate init(isRecorded: Bool, first: Int64?, last: Int64?, days: Int) {
        self.init(
            status: isRecorded ? 1 : first == nil ? 3 : 2, start: first ?? 0, end: isRecorded ? 0 : last ?? 0,
            days: days)
    }

    fileprivate init(_ summary: RecordingSummary) {
        self.init(
            isRecorded: summary.isRecorded, first: summary.times.first?.lowerBound,
            last: summary.times.last?.upperBound, days: Int(summary.days))
        asOf = summary.t / 1_000
    }
}
