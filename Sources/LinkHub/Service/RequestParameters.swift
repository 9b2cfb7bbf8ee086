import IoTCore
import IoTLink

/// Reads a request's `params`; what is missing or of the wrong kind is 25001 with the member's name.
struct RequestParameters {
    let request: LinkRequest

    private func wrong(_ name: String, _ kind: String) -> IoTError {
        IoTError(.invalidRequest, "\(request.method): '\(name)' must be \(kind)")
    }

    func text(_ name: String) throws(IoTError) -> String {
        guard let text = request.params[name]?.stringValue else { throw wrong(name, "a text") }
        return text
    }

    func value(_ name: String) throws(IoTError) -> JSONValue {
        guard let value = request.params[name] else { throw wrong(name, "given") }
        return value
    }

    func integer(_ name: String) throws(IoTError) -> Int64 {
        guard let number = request.params[name]?.integerValue else { throw wrong(name, "a whole number") }
        return number
    }

    func optionalInteger(_ name: String) throws(IoTError) -> Int64? {
        guard let value = request.params[name], value != .null else { return nil }
        guard let number = value.integerValue else { throw wrong(name, "a whole number") }
        return number
    }

    func list(_ name: String, atMost count: Int) throws(IoTError) -> [JSONValue] {
        guard let list = request.params[name]?.arrayValue else { throw wrong(name, "a list") }
        guard list.count <= count else { throw wrong(name, "a list of at most \(count)") }
        return list
    }

    func principal(_ name: String) throws(IoTError) -> Principal {
        guard let principal = Principal(try text(name)) else { throw wrong(name, "u/<access id> or d/<device id>") }
        return principal
    }

    func optionalText(_ name: String) throws(IoTError) -> String? {
        guard let value = request.params[name], value != .null else { return nil }
        guard let text = value.stringValue else { throw wrong(name, "a text") }
        return text
    }

    func flag(_ name: String) throws(IoTError) -> Bool {
        guard let value = request.params[name], value != .null else { return false }
        guard let flag = value.boolValue else { throw wrong(name, "true or false") }
        return flag
    }

    func accessID(_ name: String) throws(IoTError) -> AccessID {
        guard let id = try optionalAccessID(name) else { throw wrong(name, "an access id ([a-z0-9_-]{1,64})") }
        return id
    }

    func optionalAccessID(_ name: String) throws(IoTError) -> AccessID? {
        guard let text = try optionalText(name) else { return nil }
        guard let id = AccessID(rawValue: text) else { throw wrong(name, "an access id ([a-z0-9_-]{1,64})") }
        return id
    }

    /// `u/<access id>`, `d/<device id>`, or an access id alone.
    func optionalPrincipal(_ name: String) throws(IoTError) -> Principal? {
        guard let text = try optionalText(name) else { return nil }
        guard let principal = Principal(text) ?? AccessID(rawValue: text).map({ .user($0) }),
            principal.kind != .enrolment
        else { throw wrong(name, "an access id, u/<access id> or d/<device id>") }
        return principal
    }

    func optionalTexts(_ name: String, atMost count: Int) throws(IoTError) -> [String]? {
        guard let value = request.params[name], value != .null else { return nil }
        var texts: [String] = []
        for element in try list(name, atMost: count) {
            guard let text = element.stringValue else { throw wrong(name, "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    /// At least one of `view`, `talk`, `playback`, `control`, `configure`.
    func optionalActions(_ name: String) throws(IoTError) -> BindingActions? {
        guard let value = request.params[name], value != .null else { return nil }
        guard let actions = BindingActions(json: value), !actions.isEmpty else {
            throw wrong(name, "a list of " + BindingActions.all.names.joined(separator: ", "))
        }
        return actions
    }

    /// A time of life in seconds, within bounds.
    func lifetime(_ name: String, _ range: ClosedRange<Int64>, default usual: Int64? = nil) throws(IoTError) -> Int64 {
        guard let seconds = try optionalInteger(name) ?? usual, range.contains(seconds) else {
            throw wrong(name, "\(range.lowerBound) to \(range.upperBound) seconds")
        }
        return seconds
    }

    /// A channel kind by its name or number.
    func channelKind(_ name: String) throws(IoTError) -> ChannelKind {
        let value = request.params[name]
        let kind = ChannelKind.allCases.first {
            value?.stringValue == $0.name || value?.integerValue == Int64($0.rawValue)
        }
        guard let kind else {
            throw wrong(name, "one of " + ChannelKind.allCases.map(\.name).joined(separator: ", "))
        }
        return kind
    }
}
