public import IoTCore

/// The parameters of `firmware.add`.
public struct ReleaseCreation: LinkValue, Hashable {
    /// The signed text.
    public var manifest: String
    /// 64 bytes.
    public var signature: [UInt8]

    public init(manifest: String, signature: [UInt8]) {
        self.manifest = manifest
        self.signature = signature
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        manifest = try members.text("manifest")
        guard let signature = Base64.decode(try members.text("signature")), signature.count == 64 else {
            throw members.wrong("signature", "64 bytes in base64")
        }
        self.signature = signature
    }

    public var json: JSONValue {
        ["manifest": .string(manifest), "signature": .string(Base64.encode(signature))]
    }
}

/// A release.
public struct ReleaseReference: LinkValue, Hashable {
    public var id: String

    public init(id: String) {
        self.id = id
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
    }

    public var json: JSONValue { ["id": .string(id)] }
}

/// The parameters of `firmware.query`.
public struct FirmwareQuery: LinkValue, Hashable {
    /// Not needed from the device itself.
    public var device: String?
    /// Instead of the version that the device last reported.
    public var currentVersion: String?
    /// A language tag (BCP 47).
    public var language: String?

    public init(device: String? = nil, currentVersion: String? = nil, language: String? = nil) {
        self.device = device
        self.currentVersion = currentVersion
        self.language = language
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.optionalText("device")
        currentVersion = try members.optionalText("currentVersion")
        language = try members.optionalText("language")
    }

    public var json: JSONValue {
        .members([
            "device": .text(device), "currentVersion": .text(currentVersion), "language": .text(language),
        ])
    }
}
