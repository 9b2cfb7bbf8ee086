import GatewayAPI
import IoTCore
import MediaChannel
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

    /// Recordings between which less than a second is missing are one time.
    func ranges(_ query: RecordedTimeQuery) async throws -> RecordedTimeList {
        var query = query
        query.limit = Int(RecordedTimeQuery.limits.upperBound)
        let list = try await list(query)
        return RecordedTimeList(
            ranges: RecordedTime.joined(
                list.recordings.map { RecordedTime(start: $0.start, end: $0.end, reason: $0.reason) }),
            next: list.next)
    }

    func days(in times: Range<Int64>, by division: DayDivision) async throws -> RecordedDayList {
        // A wrong zone has the same error as for a camera of this box.
        _ = try division.zone()
        var days: [RecordedDate] = []
        var times = times.microseconds
        let channel = try await channel
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

    /// Reads a recording's file while it is sent: a part of a megabyte at a time.
    func open(_ recording: String) async throws -> RangedFile {
        let part = try session.take(.recordingReaders)
        guard let number = UInt32(recording) else {
            throw IoTError(.downloadNotFound, "the device has no recording '\(recording.prefix(32))'")
        }
        let head = try await channel.readRecording(Int64(number), at: 0, count: 0)
        return RangedFile(
            name: "\(entry.name)-\(number).mp4", contentType: RangedFile.recordingType, size: head.size, tag: head.tag,
            part: part
        ) { offset, count in
            try await channel.readRecording(
                Int64(number), tag: head.tag, at: offset, count: min(count, MonitorChannel.largestFilePart)
            ).bytes
        }
    }

    /// The other box decodes and scales it.
    func picture(_ want: RecordedPictureWant, _ bounds: PictureBounds?) async throws -> FoundPicture? {
        try await channel.recordedPicture(want, bounds)
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
