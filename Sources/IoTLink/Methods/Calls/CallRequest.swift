public import IoTCore

/// The parameters of `call.connect`, from the caller to the hub and from the hub to the device.
public struct CallRequest: LinkValue, Hashable {
    /// From the caller an id or a name. The hub forwards the id; an earlier hub forwards it unchanged.
    public var device: String
    public var kind: ChannelKind
    /// The device's camera when absent.
    public var source: ChannelSource
    /// The call's name, which the caller chooses.
    public var session: String
    /// The caller's SDP offer. With it the device makes no offer, and its answer is in the result.
    public var offer: String?
    /// The caller's signature of the offer.
    public var proof: DescriptionProof?
    /// The wanted definitions in order, as in `WantedDefinition.list`; `high` when absent.
    public var definition: String?
    /// Whether media flow as soon as the connection is established.
    public var play: Bool?
    /// The token, which hub and device check; `nil` when the member is not a string.
    public var token: String?

    // The hub adds the rest:

    /// Identifies the caller's link session. The device returns it in its messages to the caller.
    public var peerSession: String?
    /// The token's grant, for devices that do not verify the token themselves.
    public var grant: CallGrant?

    public init(
        device: DeviceID, kind: ChannelKind, source: ChannelSource = .main, session: String, offer: String? = nil,
        proof: DescriptionProof? = nil, definition: String? = nil, token: String? = nil
    ) {
        self.device = device.rawValue
        self.kind = kind
        self.source = source
        self.session = session
        self.offer = offer
        self.proof = proof
        self.definition = definition
        self.token = token
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.optionalText("device") ?? ""
        kind = try members.channelKind("kind")
        guard let source = members.given("source").map({ ChannelSource($0) }) ?? .main else {
            throw members.wrong("'source' " + ChannelSource.requirement)
        }
        self.source = source
        token = members["token"]?.stringValue
        session = try members.text("session")
        // The session is part of a key in the hub's database.
        guard (1...64).contains(session.utf8.count), session.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw members.wrong("session", "1 to 64 visible characters of ASCII")
        }
        offer = try members.optionalText("offer")
        proof = members.proof
        definition = try members.optionalText("definition")
        play = try members.optionalFlag("play")
        peerSession = try members.optionalText("peerSession")
        // Errors are ignored: a caller may not set it, and a device that verifies the token does not need it.
        grant = try? members.optional("grant", as: CallGrant.self)
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "kind": .string(kind.name), "source": source.json,
            "session": .string(session), "offer": .text(offer), "definition": .text(definition),
            "play": .flag(play), "token": .text(token), "peerSession": .text(peerSession), "grant": grant?.json,
        ]).proven(by: proof)
    }
}

/// The result of `call.connect`: the device accepted the call.
public struct CallAcceptance: LinkValue, Hashable {
    public var session: String?
    /// The SDP answer to the caller's offer.
    public var answer: String?
    /// The device's signature of the answer; `nil` from a device without a key, and from an older one.
    public var proof: DescriptionProof?
    public var iceServers: [CallServer]
    /// When the permission for the call expires; s since 1970.
    public var expires: Int64?
    /// What the device sends; `nil` from a device that has only one definition, and does not know others.
    public var definition: String?
    /// What it can send, the best first.
    public var definitions: [String]
    /// Whether somebody at the device must accept the live call before media flow; `nil` means no.
    public var rings: Bool?

    public init(
        session: String, answer: String? = nil, proof: DescriptionProof? = nil, iceServers: [CallServer],
        expires: Int64, definition: String? = nil, definitions: [String] = [], rings: Bool? = nil
    ) {
        self.session = session
        self.answer = answer
        self.proof = proof
        self.iceServers = iceServers
        self.expires = expires
        self.definition = definition
        self.definitions = definitions
        self.rings = rings
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        session = try members.optionalText("session")
        answer = try members.optionalText("answer")
        proof = members.proof
        iceServers = members.callServers("iceServers")
        expires = try members.optionalInteger("expiryTimeSeconds")
        definition = try members.optionalText("definition")
        definitions = try members.optionalTexts("definitions") ?? []
        rings = try members.optionalFlag("rings")
    }

    public var json: JSONValue {
        .members([
            "session": .text(session), "answer": .text(answer), "iceServers": .array(iceServers.map(\.json)),
            "expiryTimeSeconds": .whole(expires), "definition": .text(definition),
            "definitions": definitions.isEmpty ? nil : .array(definitions.map(JSONValue.string)),
            "rings": .flag(rings),
        ]).proven(by: proof)
    }
}

/// A STUN or TURN server from a device, as W3C's `RTCIceServer`. The caller checks whether it can use it.
public struct CallServer: LinkValue, Hashable {
    public var urls: [String]
    /// Empty when the server needs none.
    public var username: String
    public var credential: String

    public init(urls: [String], username: String = "", credential: String = "") {
        self.urls = urls
        self.username = username
        self.credential = credential
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        urls = try members.optionalTexts("urls") ?? []
        username = try members.optionalText("username") ?? ""
        credential = try members.optionalText("credential") ?? ""
    }

    public var json: JSONValue {
        var json: JSONValue = ["urls": .array(urls.map { .string($0) })]
        if !username.isEmpty {
            json["username"] = .string(username)
            json["credential"] = .string(credential)
        }
        return json
    }
}

extension LinkMembers {
    private static let mostServers = 16

    /// Reads the first 16 servers and skips malformed ones.
    func callServers(_ name: String) -> [CallServer] {
        (self[name]?.arrayValue ?? []).prefix(Self.mostServers).compactMap { server in
            try? CallServer(LinkMembers(server, of: method, failure: failure))
        }
    }
}
