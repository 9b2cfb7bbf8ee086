import IoTCore

/// The JSON of replayed items. Times are ms since 1970.
extension PlaybackMessages {
    /// The messages of a playback event: some items may not fit one message.
    static func messages(_ event: PlaybackEvent) -> [JSONValue] {
        guard case .replay(let mode, let items) = event else { return [json(event)] }
        var messages: [JSONValue] = []
        var rest = items[...]
        repeat {
            let fitting = fitting(rest, json)
            rest = rest.dropFirst(max(1, fitting.count))
            messages.append([
                "event": "replay", "mode": .string((messages.isEmpty ? mode : .append).rawValue),
                "items": .array(fitting),
            ])
        } while !rest.isEmpty
        return messages
    }

    private static func json(_ item: ReplayItem) -> JSONValue {
        var json: JSONValue = ["time": .integer(item.time / 1_000)]
        switch item.kind {
        case .event: (json["topic"], json["body"]) = (.string(item.name), item.value)
        case .property, .action: (json["path"], json["value"]) = (.string(item.name), item.value)
        }
        return json
    }

    static func replay(_ json: JSONValue) -> PlaybackEvent? {
        guard let mode = json["mode"]?.stringValue.flatMap(ReplayMode.init), let items = json["items"]?.arrayValue
        else {
            return nil
        }
        return .replay(mode, items.compactMap(replayItem))
    }

    private static func replayItem(_ json: JSONValue) -> ReplayItem? {
        guard let time = microseconds(json["time"]) else { return nil }
        if let topic = json["topic"]?.stringValue, let body = json["body"] {
            return ReplayItem(time: time, kind: .event, name: topic, value: body)
        }
        guard let path = json["path"]?.stringValue, let value = json["value"] else { return nil }
        return ReplayItem(
            time: time, kind: path.hasPrefix("Action.") ? .action : .property, name: path, value: value)
    }
}
