import IoTCore

/// The JSON of playback on the control channel (docs/channels.md). Times are ms since 1970.
enum PlaybackMessages {
    /// The most bytes of a list's items in one message of the control channel.
    private static let mostBytes = 7_000

    /// The latest time, in ms: µs of it are numbers of JSON.
    static let latest = Int64(1) << 52 - 1

    /// A time in µs, as ms that a message can have.
    static func moment(_ time: Int64) -> JSONValue { .integer(max(0, min(time / 1_000, latest))) }

    /// `from` and `to`.
    static func json(_ times: Range<Int64>) -> JSONValue {
        ["from": moment(times.lowerBound), "to": moment(times.upperBound)]
    }

    // MARK: From the caller

    /// A time in ms, as µs.
    ///
    /// - Throws: `invalidParameter`.
    static func time(_ params: JSONValue, _ name: String) throws(IoTError) -> Int64? {
        guard let value = params[name] else { return nil }
        guard let time = value.integerValue, (0...latest).contains(time) else {
            throw IoTError(.invalidParameter, "'\(name)' must be a time in ms since 1970")
        }
        return time * 1_000
    }

    static func times(_ params: JSONValue) throws(IoTError) -> Range<Int64> {
        let (from, to) = (try time(params, "from") ?? 0, try time(params, "to") ?? Int64(1) << 61)
        guard from < to else { throw IoTError(.invalidParameter, "'from' must be before 'to'") }
        return from..<to
    }

    static func listQuery(_ params: JSONValue) throws(IoTError) -> RecordedListQuery {
        try RecordedListQuery(
            times: try times(params), pageIndex: try number(params, "pageIndex") ?? 0,
            countPerPage: try number(params, "countPerPage") ?? RecordedListQuery.usualPage,
            type: params["type"]?.stringValue, isAscending: try isAscending(params))
    }

    static func isAscending(_ params: JSONValue) throws(IoTError) -> Bool {
        switch params["order"]?.stringValue ?? PlaybackStrategy.ascending.rawValue {
        case PlaybackStrategy.ascending.rawValue: return true
        case PlaybackStrategy.descending.rawValue: return false
        default: throw IoTError(.invalidParameter, "'order' must be ascending or descending")
        }
    }

    static func division(_ params: JSONValue) throws(IoTError) -> DayDivision {
        guard let offset = params["offset"] else { return .zone(params["zone"]?.stringValue ?? "UTC") }
        guard let seconds = offset.integerValue else {
            throw IoTError(.invalidParameter, "'offset' must be a number of seconds")
        }
        return .offset(seconds)
    }

    static func number(_ params: JSONValue, _ name: String) throws(IoTError) -> Int? {
        guard let value = params[name] else { return nil }
        guard let number = value.integerValue, (0..<Int64(1) << 31).contains(number) else {
            throw IoTError(.invalidParameter, "'\(name)' must be a whole number")
        }
        return Int(number)
    }

    static func speed(_ params: JSONValue) throws(IoTError) -> Double? {
        guard let value = params["speed"] else { return nil }
        return try PlaybackSpeed.check(value.doubleValue ?? value.integerValue.map(Double.init) ?? 0)
    }

    static func strategy(_ params: JSONValue) throws(IoTError) -> PlaybackStrategy? {
        guard let value = params["strategy"] else { return nil }
        guard let strategy = value.stringValue.flatMap(PlaybackStrategy.init) else {
            throw IoTError(.invalidParameter, "'strategy' " + PlaybackStrategy.requirement)
        }
        return strategy
    }

    // MARK: To the caller

    /// The items of a page from `skip` on that fit a message; `next` is the `skip` with which the rest is asked for.
    static func page(_ list: RecordedList, skip: Int) -> JSONValue {
        let items = fitting(list.items.dropFirst(skip), json)
        var page: JSONValue = ["totalPage": .integer(Int64(list.totalPage)), "items": .array(items)]
        let (end, isBeyond) = skip.addingReportingOverflow(items.count)
        if !isBeyond, end < list.items.count { page["next"] = .integer(Int64(end)) }
        return page
    }

    /// The first days that fit a message; `next` is the `from` with which the rest is asked for.
    static func days(_ days: [RecordedDate]) -> JSONValue {
        let fitting = fitting(days) { day in
            [
                "date": .string(day.date), "start": milliseconds(day.times.lowerBound),
                "end": milliseconds(day.times.upperBound),
            ]
        }
        var page: JSONValue = ["days": .array(fitting)]
        if fitting.count < days.count { page["next"] = milliseconds(days[fitting.count].times.lowerBound) }
        return page
    }

    static func fitting<Element>(
        _ elements: some Sequence<Element>, _ json: (Element) -> JSONValue
    ) -> [JSONValue] {
        var fitting: [JSONValue] = []
        var bytes = 0
        for element in elements {
            let json = json(element)
            bytes += json.jsonBytes.count + 1
            if bytes > mostBytes { break }
            fitting.append(json)
        }
        return fitting
    }

    private static func milliseconds(_ time: Int64) -> JSONValue { .integer(time / 1_000) }

    static func json(_ item: RecordedItem) -> JSONValue {
        var json: JSONValue = [
            "id": .integer(item.id), "start": milliseconds(item.times.lowerBound),
            // As the HTTP API rounds it.
            "end": milliseconds(item.times.upperBound + 999), "type": .string(item.type),
        ]
        guard let facts = item.facts else { return json }
        json["bytes"] = .integer(facts.byteCount)
        json["state"] = .string(facts.state.rawValue)
        json["kept"] = .bool(facts.isKept)
        return json
    }

    static func json(_ event: PlaybackEvent) -> JSONValue {
        switch event {
        case .willBeginFile(let item): return ["event": "willBeginFile", "item": json(item)]
        case .didEndFile(let item, let error):
            return with(error, ["event": "didEndFile", "item": json(item)])
        case .gap(let times):
            return [
                "event": "gap", "start": .integer(times.lowerBound / 1_000), "end": .integer(times.upperBound / 1_000),
            ]
        case .position(let time): return ["event": "position", "time": .integer(time / 1_000)]
        case .finished(let error): return with(error, ["event": "finished"])
        case .replay: return messages(event)[0]
        }
    }

    // MARK: At the caller

    /// `nil` for an event that this version does not know.
    static func event(_ json: JSONValue) -> PlaybackEvent? {
        let error = (json["error"]?["code"]?.integerValue).map { ErrorCode(rawValue: Int(clamping: $0)) }
        switch json["event"]?.stringValue {
        case "willBeginFile": return json["item"].flatMap(item).map { .willBeginFile($0) }
        case "didEndFile": return json["item"].flatMap(item).map { .didEndFile($0, error: error) }
        case "gap": return times(of: json).map { .gap($0) }
        case "position": return microseconds(json["time"]).map { .position($0) }
        case "finished": return .finished(error: error)
        case "replay": return replay(json)
        default: return nil
        }
    }

    static func item(_ json: JSONValue) -> RecordedItem? {
        guard let id = json["id"]?.integerValue, let times = times(of: json) else { return nil }
        var item = RecordedItem(id: id, times: times, type: json["type"]?.stringValue ?? "")
        if let bytes = json["bytes"]?.integerValue, bytes >= 0,
            let state = json["state"]?.stringValue.flatMap(RecordedItem.Facts.State.init)
        {
            item.facts = RecordedItem.Facts(byteCount: bytes, state: state, isKept: json["kept"]?.boolValue ?? false)
        }
        return item
    }

    static func day(_ json: JSONValue) -> RecordedDate? {
        guard let date = json["date"]?.stringValue, let times = times(of: json) else { return nil }
        return RecordedDate(date: date, times: times)
    }

    private static func times(of json: JSONValue) -> Range<Int64>? {
        guard let start = microseconds(json["start"]), let end = microseconds(json["end"]), start <= end else {
            return nil
        }
        return start..<end
    }

    static func microseconds(_ json: JSONValue?) -> Int64? {
        json?.integerValue.flatMap { (0...latest).contains($0) ? $0 * 1_000 : nil }
    }

    private static func with(_ error: ErrorCode?, _ event: JSONValue) -> JSONValue {
        var event = event
        event["error"] = error.map { IoTError($0).controlError }
        return event
    }
}
