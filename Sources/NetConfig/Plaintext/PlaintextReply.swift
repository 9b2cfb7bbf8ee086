import IoTCore

/// The device's message of the plaintext scheme.
enum PlaintextReply: Sendable, Hashable {
    /// The device has the request, and joins.
    case accepted(productID: String, deviceName: String)
    /// What is wrong with this request, or became of it.
    case currentError(String)
    /// What became of the request before this one, which is taken.
    case previousError(String)

    private static let version = "2.0"
    private static let largestLog = 160

    /// - Returns: `nil` for what is not a reply.
    init?(parsing datagram: [UInt8]) {
        guard datagram.count <= PlaintextRequest.largest, let value = try? JSONValue(parsing: datagram),
            value["cmdType"] == 2
        else { return nil }
        let log = value["log"]?.stringValue?.shown(Self.largestLog) ?? ""
        switch value["deviceReply"]?.stringValue {
        case nil:
            self = .accepted(
                productID: value["productId"]?.stringValue?.shown(64) ?? "",
                deviceName: value["deviceName"]?.stringValue?.shown(64) ?? "")
        case "Current_Error"?: self = .currentError(log)
        case "Previous_Error"?: self = .previousError(log)
        case .some: return nil
        }
    }

    /// The message in at most so many bytes, as much of it as fits: nobody is known here, and an answer that is longer
    /// than its request could be aimed at somebody else.
    ///
    /// - Returns: `nil` when nothing fits.
    func bytes(fitting limit: Int) -> [UInt8]? {
        forms.lazy.map { Array($0.jsonText.utf8) }.first { $0.count <= limit }
    }

    /// From the longest to the shortest.
    private var forms: [JSONValue] {
        switch self {
        case .accepted(let productID, let deviceName):
            let least: JSONValue = ["cmdType": 2, "protoVersion": .string(Self.version)]
            var named = least
            named["deviceName"] = .string(deviceName)
            var whole = named
            whole["productId"] = .string(productID)
            return [whole, named, least]
        case .currentError(let log): return Self.forms("Current_Error", log)
        case .previousError(let log): return Self.forms("Previous_Error", log)
        }
    }

    private static func forms(_ kind: String, _ log: String) -> [JSONValue] {
        let least: JSONValue = ["cmdType": 2, "deviceReply": .string(kind)]
        // The number of the error comes first, so that a short log still says it.
        let logs = [log.shown(largestLog), String(log.prefix { $0 != ":" }).shown(64), log.shown(5)]
        return logs.map { log in
            var form = least
            form["log"] = .string(log)
            return form
        } + [least]
    }
}
