import IoTCore

/// The webhook of an account.
package struct NoticeReceiver: Sendable, Hashable {
    var account: AccessID
    var url: String
    /// Whether the URL may be on a private network: only if an administrator has set it. Others could otherwise find out
    /// which machines of this network answer.
    var allowsPrivate: Bool

    private static let maximumSize = 256 << 10

    /// - Throws: `invalidRequest` for a URL that is not one of `http` or `https`.
    init(account: AccessID, url: String, allowsPrivate: Bool) throws(IoTError) {
        guard let parsed = ServiceURL(url), ["http", "https"].contains(parsed.scheme), !url.contains("@") else {
            throw IoTError(
                .invalidRequest,
                "url: must be http[s]://HOST[:PORT]/PATH with at most \(ServiceURL.maximumSize) characters")
        }
        self.account = account
        self.url = url
        self.allowsPrivate = allowsPrivate
    }

    private var json: JSONValue {
        ["account": .string(account.rawValue), "url": .string(url), "allowsPrivate": .bool(allowsPrivate)]
    }

    static func load(_ path: String) throws(IoTError) -> [NoticeReceiver] {
        guard let bytes = try PrivateFile.bytes(of: path, limit: maximumSize) else { return [] }
        let damaged = IoTError(
            .fileFailed, "\(path) is damaged",
            remedy: "restore it from a backup, or remove it and set the webhooks again")
        guard let list = (try? JSONValue(parsing: bytes))?.arrayValue else { throw damaged }
        var receivers: [NoticeReceiver] = []
        for entry in list {
            guard let account = entry["account"]?.stringValue.flatMap({ AccessID(rawValue: $0) }),
                let url = entry["url"]?.stringValue, let allowsPrivate = entry["allowsPrivate"]?.boolValue,
                let receiver = try? NoticeReceiver(account: account, url: url, allowsPrivate: allowsPrivate)
            else { throw damaged }
            receivers.append(receiver)
        }
        return receivers
    }

    static func save(_ receivers: [NoticeReceiver], to path: String) throws(IoTError) {
        let sorted = receivers.sorted { $0.account.rawValue < $1.account.rawValue }
        try PrivateFile.write(JSONValue.array(sorted.map(\.json)).jsonText + "\n", to: path)
    }
}
