public import IoTCore

/// `firmware.add`, `firmware.show`, `firmware.list`
extension ReleaseDescription: LinkListed {
    public static var listName: String { "releases" }
    public static var placeName: String { "id" }
    public var place: String { id }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), model: try members.text("model"), version: try members.text("version"),
            size: try members.integer("size"), sha256: try members.text("sha256"),
            from: try members.optionalTexts("from") ?? [], downgrade: try members.flag("downgrade"),
            added: try members.integer("added"), complete: try members.flag("complete"),
            manifest: try members.optionalText("manifest"), signature: try members.optionalText("signature"))
    }

    public var json: JSONValue {
        .members([
            "id": .string(id), "model": .string(model), "version": .string(version), "size": .integer(size),
            "sha256": .string(sha256), "from": .texts(from), "downgrade": .bool(downgrade), "added": .integer(added),
            "complete": .bool(complete), "manifest": .text(manifest), "signature": .text(signature),
        ])
    }
}

/// `firmware.query`
extension FirmwareOffer: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            model: try members.text("model"), currentVersion: try members.optionalText("currentVersion"),
            available: try members.flag("available"), id: try members.optionalText("id"),
            version: try members.optionalText("version"), url: try members.optionalText("url"),
            description: try members.optionalText("description"), language: try members.optionalText("language"),
            size: try members.optionalInteger("size"))
    }

    public var json: JSONValue {
        .members([
            "model": .string(model), "currentVersion": .text(currentVersion), "available": .bool(available),
            "id": .text(id), "version": .text(version), "url": .text(url), "description": .text(description),
            "language": .text(language), "size": .whole(size),
        ])
    }
}
