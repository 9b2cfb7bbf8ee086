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

/// The parameters of `key.prove`: the answer to a digest challenge (RFC 7616 §3.4), made with a media key. It proves
/// the knowledge of the key without containing the key.
public struct KeyProof: LinkValue, Hashable {
    /// The id of the key.
    public var id: String
    /// `MD5` or `SHA-256`.
    public var algorithm: String
    /// The method of the signed request.
    public var method: String
    public var uri: String
    public var nonce: String
    /// `nc`. With `qop=auth`, both `nc` and `cnonce` are set.
    public var count: Int64?
    public var clientNonce: String?
    /// Lower-case hex digits.
    public var response: String

    /// - Parameter method: The method of the signed request.
    package init(_ authorization: DigestAuthorization, method: String) {
        id = authorization.username
        algorithm = authorization.algorithm.rawValue
        self.method = method
        uri = authorization.uri
        nonce = authorization.nonce
        count = authorization.use.map { Int64($0.count) }
        clientNonce = authorization.use?.clientNonce
        response = authorization.response
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
        algorithm = try members.text("algorithm")
        method = try members.text("method")
        uri = try members.text("uri")
        nonce = try members.text("nonce")
        count = try members.optionalInteger("nc")
        clientNonce = try members.optionalText("cnonce")
        response = try members.text("response")
    }

    public var json: JSONValue {
        var json: JSONValue = [
            "id": .string(id), "algorithm": .string(algorithm), "method": .string(method), "uri": .string(uri),
            "nonce": .string(nonce), "response": .string(response),
        ]
        json["nc"] = count.map { .integer($0) }
        json["cnonce"] = .text(clientNonce)
        return json
    }

    /// `nil` for an unknown algorithm or a malformed count.
    package func authorization(realm: String) -> DigestAuthorization? {
        guard let algorithm = DigestAlgorithm(name: algorithm) else { return nil }
        var use: DigestNonceUse?
        switch (count, clientNonce) {
        case (nil, nil): break
        case (let count?, let clientNonce?):
            guard let count = UInt32(exactly: count) else { return nil }
            use = DigestNonceUse(count: count, clientNonce: clientNonce)
        default: return nil
        }
        return DigestAuthorization(
            username: id, realm: realm, nonce: nonce, uri: uri, algorithm: algorithm, opaque: nil, use: use,
            response: response)
    }
}
