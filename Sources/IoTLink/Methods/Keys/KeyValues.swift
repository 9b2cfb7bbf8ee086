public import IoTCore

/// The parameters of `key.create`.
public struct KeyCreation: LinkValue, Hashable {
    public var name: String
    /// Only `view` when it has no actions.
    public var scope: CredentialScope
    public var ttlSeconds: Int64
    /// The API token of the request that a gateway received.
    public var within: String?

    public init(name: String, scope: CredentialScope, ttlSeconds: Int64, within: String? = nil) {
        self.name = name
        self.scope = scope
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        name = try members.text("name")
        scope = try CredentialScope(members)
        ttlSeconds = try members.lifetime("ttlSeconds", Lifetimes.credentials)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        var json = scope.json
        json["name"] = .string(name)
        json["ttlSeconds"] = .integer(ttlSeconds)
        json["within"] = .text(within)
        return json
    }
}

/// The parameters of `key.check`.
public struct KeyText: LinkValue, Hashable {
    public var key: String

    public init(key: String) {
        self.key = key
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        key = try members.text("key")
    }

    public var json: JSONValue { ["key": .string(key)] }
}

/// `key.create`
extension KeyResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), name: try members.text("name"), key: try members.text("key"),
            expires: try members.integer("expires"))
    }

    public var json: JSONValue {
        ["id": .string(id), "name": .string(name), "key": .string(key), "expires": .integer(expires)]
    }
}

/// `key.list`
extension KeyDescription: LinkListed {
    public static var listName: String { "keys" }
    public static var placeName: String { "id" }
    public var place: String { id }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), name: try members.text("name"), account: try members.text("account"),
            devices: try members.optionalTexts("devices"), actions: try members.knownActions("actions") ?? [],
            issued: try members.integer("issued"), expires: try members.integer("expires"),
            lastUse: try members.optionalInteger("lastUse"), parent: try members.optionalText("parent"))
    }

    public var json: JSONValue {
        .members([
            "id": .string(id), "name": .string(name), "account": .string(account), "devices": .texts(devices),
            "actions": BindingActions(actions).json, "issued": .integer(issued), "expires": .integer(expires),
            "lastUse": .whole(lastUse), "parent": .text(parent),
        ])
    }
}
