import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import RecordingStore

struct CallerStorage: GatewayStorage {
    /// µs.
    private static let second: Int64 = 1_000_000
    private static let day: Int64 = 86_400
    /// The longest playlist of an address, s: about 900 parts.
    private static let longestAddress: Int64 = 3_600
    private static let ever: Range<Int64> = 0..<Int64.max
    private static let page = 3_200

    let session: CallerSession
    var recordings: CallerRecordings { CallerRecordings(session: session) }

    func detail(_ device: String, channel: Int) async throws -> StorageDetail {
        guard channel == 0 else {
            throw IoTError(.callTargetNotFound, "the device has no source \(channel)", remedy: "use channel 0")
        }
        guard let (camera, access) = try await recordings.recorded(device) else {
            return StorageDetail(status: try await isRecorded(device) ? 1 : 3, start: 0, end: 0, days: 0)
        }
        let isRecorded = try await isRecorded(device)
        let library = access.library
        let (first, last) = try await access.threads.run { () throws(IoTError) in
            try Self.firstAndLast(library, camera, Self.ever)
        }
        let start = first.map { $0.start / Self.second } ?? 0
        let end = isRecorded ? 0 : last.map { ($0.end + Self.second - 1) / Self.second } ?? 0
        let days = library.limits(of: camera).age.map { Int($0 / (Self.day * Self.second)) } ?? 0
        return StorageDetail(status: isRecorded ? 1 : first == nil ? 3 : 2, start: start, end: end, days: days)
    }

    func days(_ device: String, timezone: Int64) async throws -> StorageDays {
        let days = try await recordings.days(device, in: 0..<Int64.max, by: .offset(timezone))
        return StorageDays(list: days.days.map { $0.start / 1_000 })
    }

    func playList(_ device: String, in times: Range<Int64>) async throws -> StoragePlayList {
        let end = times.lowerBound.addingReportingOverflow(Self.day)
        let times = times.lowerBound..<min(times.upperBound, end.overflow ? .max : end.partialValue)
        guard let (camera, access) = try await recordings.recorded(device), !times.isEmpty else {
            return StoragePlayList(list: [])
        }
        let library = access.library
        let recorded = try await access.threads.run { () throws(IoTError) in
            try Self.times(library, camera, times.scaled(by: Self.second))
        }
        return StoragePlayList(
            list: recorded.map { time in
                StoragePlayList.Item(start: time.start / 1_000, end: (time.end + 999) / 1_000)
            })
    }

    func address(_ device: String, from start: Int64, to end: Int64?) async throws -> StorageAddress {
        guard let (camera, access) = try await recordings.recorded(device) else { throw CallerRecordings.nothing }
        let library = access.library
        let wanted = (start..<max(start, end ?? Int64.max)).scaled(by: Self.second)
        let (first, last) = try await access.threads.run { () throws(IoTError) in
            try Self.firstAndLast(library, camera, wanted)
        }
        guard let first, let last else { throw CallerRecordings.nothing }
        // A gap before the first recording does not count.
        let from = max(start, first.start / Self.second)
        let newest = (last.end + Self.second - 1) / Self.second
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

    // MARK: On the disk's threads

    private static func firstAndLast(
        _ library: RecordingLibrary, _ camera: CameraNumber, _ times: Range<Int64>
    ) throws(IoTError) -> (first: SegmentRecord?, last: SegmentRecord?) {
        let first = try library.segments(RecordingQuery(camera: camera, times: times, limit: 1))
        let last = try library.segments(RecordingQuery(camera: camera, times: times, order: .descending, limit: 1))
        return (first.entries.first, last.entries.first)
    }

    /// What is recorded of a time in µs, without the gaps.
    static func times(
        _ library: RecordingLibrary, _ camera: CameraNumber, _ times: Range<Int64>
    ) throws(IoTError) -> [RecordedTime] {
        var ranges: [RecordedRange] = []
        var query = RecordingQuery(camera: camera, times: times, limit: page)
        repeat {
            let page = try library.ranges(query)
            ranges += page.entries
            query.cursor = page.next
            // A day has far fewer; more is damage.
        } while query.cursor != nil && ranges.count < 100_000
        return RecordedTime.joined(ranges.map { RecordedTime($0) })
    }
}
