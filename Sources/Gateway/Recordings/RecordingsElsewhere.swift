import GatewayAPI
import IoTCore
import MediaChannel
import RecordingStore

/// The recordings of a camera that another box runs: each request asks that box over a playback channel of its own.
struct RecordingsElsewhere {
    /// The device answers 20 requests a second; a page that needs more continues with `next`.
    private static let mostRequests = 15

    let session: CallerSession
    let entry: AccountRights.Entry

    func list(_ query: RecordedTimeQuery) async throws -> RecordingList {
        var place = try Place(query.after)
        var items: [RecordedItem] = []
        var next: Place?
        try await ask { channel in
            for _ in 0..<Self.mostRequests {
                let page = try await channel.recordings(
                    in: query.times.microseconds, pageIndex: place.page, countPerPage: query.limit,
                    isAscending: !query.newestFirst, skip: place.skip)
                items += page.items
                guard let skip = page.next else {
                    next = place.page + 1 < page.totalPage ? Place(page: place.page + 1, skip: 0) : nil
                    return
                }
                place.skip = skip
                next = place
            }
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

    func days(in times: Range<Int64>, zone: RecordedZone) async throws -> RecordedDayList {
        let division = zone.division
        // A wrong zone has the same error as for a camera of this box.
        _ = try division.zone()
        var days: [RecordedDate] = []
        try await ask { channel in
            var times = times.microseconds
            for _ in 0..<Self.mostRequests {
                let page = try await channel.recordedDays(in: times, by: division)
                days += page.days
                guard let next = page.next, next > times.lowerBound, next < times.upperBound else { return }
                times = next..<times.upperBound
            }
        }
        return RecordedDayList(
            days: days.map { day in
                let (start, end) = day.times.milliseconds
                return GatewayAPI.RecordedDay(date: day.date, start: start, end: end)
            })
    }

    /// Opens a channel, uses it, and closes it.
    private func ask(_ body: (MonitorChannel) async throws -> Void) async throws {
        let part = try session.take(.channelUses)
        defer { withExtendedLifetime(part) {} }
        let use = try await session.open(entry, .playback, source: .main)
        do {
            try await body(use.channel)
        } catch {
            await session.gateway.registry.close(use.id)
            throw error
        }
        await session.gateway.registry.close(use.id)
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
