import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import NIOCore
import RecordingStore

/// The recordings of a camera that another box runs: that box is asked over a playback channel.
struct RecordingsElsewhere {
    /// The device answers 20 requests a second; a page that needs more continues with `next`.
    private static let mostRequests = 15

    let session: CallerSession
    let entry: AccountRights.Entry

    func list(_ query: RecordedTimeQuery) async throws -> RecordingList {
        var place = try Place(query.after)
        var items: [RecordedItem] = []
        var next: Place?
        let channel = try await channel
        for _ in 0..<Self.mostRequests {
            let page = try await channel.recordings(
                in: query.times.microseconds, pageIndex: place.page, countPerPage: query.limit,
                isAscending: !query.newestFirst, skip: place.skip)
            items += page.items
            guard let skip = page.next else {
                next = place.page + 1 < page.totalPage ? Place(page: place.page + 1, skip: 0) : nil
                break
            }
            place.skip = skip
            next = place
        }
        return RecordingList(recordings: items.map { Recording($0) }, next: next?.text)
    }

    func ranges(_ query: RecordedTimeQuery) async throws -> RecordedTimeList {
        do {
            let page = try await channel.recordedRanges(
                in: query.times.microseconds, isAscending: !query.newestFirst, limit: query.limit, after: query.after)
            return RecordedTimeList(
                ranges: RecordedTime.joined(page.stretches.map { RecordedTime($0) }), next: page.next)
        } catch let error as IoTError where Self.isAway(error) {
            return try await summaryWhileOffline(error).ranges(query)
        }
    }

    func days(in times: Range<Int64>, by division: DayDivision) async throws -> RecordedDayList {
        // A wrong zone has the same error as for a camera of this box.
        let zone = try division.zone()
        do {
            return try await days(in: times, by: division, over: try await channel)
        } catch let error as IoTError where Self.isAway(error) {
            return try await summaryWhileOffline(error).days(in: times, zone: zone)
        }
    }

    private func days(
        in times: Range<Int64>, by division: DayDivision, over channel: MonitorChannel
    ) async throws -> RecordedDayList {
        var days: [RecordedDate] = []
        var times = times.microseconds
        for _ in 0..<Self.mostRequests {
            let page = try await channel.recordedDays(in: times, by: division)
            days += page.days
            guard let next = page.next, next > times.lowerBound, next < times.upperBound else { break }
            times = next..<times.upperBound
        }
        return RecordedDayList(
            days: days.map { day in
                let (start, end) = day.times.milliseconds
                return GatewayAPI.RecordedDay(date: day.date, start: start, end: end)
            })
    }

    /// Reads a file while it is sent: a part of a megabyte at a time. A file that has no more comes with one request.
    func file(_ want: RecordedFileWant, _ name: String, _ part: QuotaPart) async throws -> RangedFile {
        let head = try await channel.readFile(want, at: 0, count: want.isSmall ? MonitorChannel.largestFilePart : 0)
        return RangedFile(
            name: name, contentType: RangedFile.recordingType, size: head.size, tag: head.tag, part: part
        ) { offset, count in
            if offset == 0, head.bytes.readableBytes > 0 { return head.bytes }
            return try await channel.readFile(
                want, tag: head.tag, at: offset, count: min(count, MonitorChannel.largestFilePart)
            ).bytes
        }
    }

    /// For players that fetch parts. Times are µs since 1970.
    func stream(in times: Range<Int64>) async throws -> RecordedStream {
        try await channel.recordedStream(in: times)
    }

    /// The other box decodes and scales it.
    func picture(_ want: RecordedPictureWant, _ bounds: PictureBounds?) async throws -> FoundPicture? {
        try await channel.recordedPicture(want, bounds)
    }

    /// What the box has told the hub, also while it is offline.
    ///
    /// - Throws: 21039 if it has told nothing.
    func summary() async throws(IoTError) -> RecordingSummary {
        try await session.hub.ask(RecordingMethod.summary, DeviceReference(device: entry.id))
    }

    /// Whether the box cannot be asked: it is offline, or has just gone.
    private static func isAway(_ error: IoTError) -> Bool {
        [.deviceOffline, .channelDisconnected].contains(error.code)
    }

    private func summaryWhileOffline(_ error: IoTError) async throws -> RecordingSummary {
        guard let summary = try? await summary() else { throw error }
        return summary
    }

    private var channel: MonitorChannel {
        get async throws { try await session.gateway.playbackChannels.use(session, entry).channel }
    }

    /// Where a list continues: `2.350` is the rest of the page 2, without its first 350 items.
    private struct Place {
        var page: Int
        var skip: Int

        init(page: Int, skip: Int) {
            self.page = page
            self.skip = skip
        }

        init(_ text: String?) throws(IoTError) {
            guard let text else {
                self.init(page: 0, skip: 0)
                return
            }
            let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0) }
            guard numbers.count == 2, let page = numbers[0], let skip = numbers[1] else {
                throw IoTError(.valueInvalid, "'\(text.prefix(32))' is not the 'next' of this list")
            }
            self.init(page: Int(page), skip: Int(skip))
        }

        var text: String { "\(page).\(skip)" }
    }
}

extension RecordedFileWant {
    /// Whether all of it is read at once.
    fileprivate var isSmall: Bool {
        switch self {
        case .header, .fragments: true
        case .recording, .clip, .stream, .ranges: false
        }
    }
}
