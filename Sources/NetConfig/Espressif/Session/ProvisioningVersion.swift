import IoTCore

/// The answer of `proto-ver`: JSON; devices of the first generation return only their version.
struct ProvisioningVersion: Sendable, Hashable {
    /// `netprov-v1.2`, or `v1.1` of older devices.
    var version: String
    /// 0, 1 or 2; `nil` if the device does not report it.
    var security: Int?
    /// If it is at least 1, the nonce of security 2 counts up.
    var securityPatch: Int
    var capabilities: Set<String>
    /// Our own capabilities: `bind`.
    var linkCapabilities: Set<String>

    static let ours = "netprov-v1.2"
    static let longest = 2048

    init(
        version: String = ours, security: Int?, securityPatch: Int, capabilities: Set<String>,
        linkCapabilities: Set<String>
    ) {
        self.version = version
        self.security = security
        self.securityPatch = securityPatch
        self.capabilities = capabilities
        self.linkCapabilities = linkCapabilities
    }

    /// `nil` if the text is not a version.
    init?(parsing body: [UInt8]) {
        guard body.count <= Self.longest, let text = String(validating: body, as: UTF8.self) else { return nil }
        guard let value = try? JSONValue(parsing: text), let about = value["prov"] else {
            let isWord = (1...32).contains(body.count) && body.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x7B }
            guard isWord else { return nil }
            self.init(version: text, security: nil, securityPatch: 0, capabilities: [], linkCapabilities: [])
            return
        }
        self.init(
            version: about["ver"]?.stringValue ?? "",
            security: about["sec_ver"]?.integerValue.flatMap(Int.init(exactly:)),
            securityPatch: about["sec_patch_ver"]?.integerValue.flatMap(Int.init(exactly:)) ?? 0,
            capabilities: Self.words(about["cap"]), linkCapabilities: Self.words(value["iotlink"]?["cap"]))
    }

    var jsonText: String {
        let about: JSONValue = [
            "ver": .string(version), "sec_ver": security.map { .integer(Int64($0)) } ?? .null,
            "sec_patch_ver": .integer(Int64(securityPatch)),
            "cap": .array(capabilities.sorted().map(JSONValue.string)),
        ]
        let link: JSONValue = [
            "ver": .string("1"), "cap": .array(linkCapabilities.sorted().map(JSONValue.string)),
        ]
        return (["prov": about, "iotlink": link] as JSONValue).jsonText
    }

    private static func words(_ value: JSONValue?) -> Set<String> {
        Set((value?.arrayValue ?? []).compactMap(\.stringValue))
    }
}
