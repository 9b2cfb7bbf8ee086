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
