import IoTCore

// `{"s":ssid,"p":password,"t":token}`, and optionally `"h"` the hub's URL, `"l"` the language, `"x"` the extras
// by tag.
extension ProvisioningPayload {
    func jsonText() throws(IoTError) -> String {
        if isHidden { throw Self.unsupported("hidden", .json, use: "wifi") }
        var members: [(String, JSONValue)] = [("s", .string(ssid)), ("p", .string(password))]
        if let token { members.append(("t", .string(token))) }
        if let hub { members.append(("h", .string(hub))) }
        if let language { members.append(("l", .string(language))) }
        if !extras.isEmpty {
            let values = extras.map { (String($0.key), JSONValue.string($0.value)) }
            members.append(("x", .object(Dictionary(values) { first, _ in first })))
        }
        return "{" + members.map { "\"\($0.0)\":\($0.1.jsonText)" }.joined(separator: ",") + "}"
    }

    init(json text: String) throws(IoTError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch { throw Self.malformed("the text is not JSON") }
        guard let ssid = value["s"]?.stringValue else { throw Self.malformed("the JSON has no string \"s\"") }
        var extras: [Character: String] = [:]
        for (tag, extra) in value["x"]?.objectValue ?? [:] {
            guard tag.count == 1, let character = tag.first, let text = extra.stringValue else {
                throw Self.malformed("\"x\" must hold strings under one-character tags")
            }
            extras[character] = text
        }
        self.init(
            ssid: ssid, password: try Self.string(value, "p") ?? "", token: try Self.string(value, "t"),
            hub: try Self.string(value, "h"), language: try Self.string(value, "l"), extras: extras)
    }

    private static func string(_ value: JSONValue, _ key: String) throws(IoTError) -> String? {
        guard let member = value[key], member != .null else { return nil }
        guard let text = member.stringValue else { throw malformed("\"\(key)\" must be a string") }
        return text
    }
}
