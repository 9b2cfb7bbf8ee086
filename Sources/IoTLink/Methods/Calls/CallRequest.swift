public import IoTCore

/// The parameters of `call.connect`, as the hub gets them and as it sends them on.
public struct CallRequest: LinkValue, Hashable {
    /// To the hub an id or a name, to the device its id; an earlier hub sends it as it came.
    public var device: String
    public var kind: ChannelKind
    /// 0 when absent.
    public var source: Int64?
    /// The call's own name, which the caller chooses.
    public var session: String
    /// The caller's; then the device makes no offer, and its answer stands in the result.
    public var offer: String?
    /// Whether media flow as soon as the connection stands.
    public var play: Bool?
    /// The token, which hub and device check; a value that is no text is none.
    public var token: String?

    // What the hub adds:

    /// By which the hub knows the caller's link session in what the device sends back.
    public var peerSession: String?
    /// What the token grants, for devices that do not check it themselves.
    public var grant: CallGrant?

    public init(
        device: DeviceID, kind: ChannelKind, source: Int64? = nil, session: String, offer: String? = nil,
        token: String? = nil
    ) {
        self.device = device.rawValue
        self.kind = kind
        self.source = source
        self.session = session
        self.offer = offer
        self.token = token
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.optionalText("device") ?? ""
        kind = try members.channelKind("kind")
        source = try members.optionalInteger("source")
        token = members["token"]?.stringValue
        session = try members.text("session")
        // It is part of a key of the hub's store.
        guard (1...64).contains(session.utf8.count), session.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw members.wrong("session", "1 to 64 visible characters of ASCII")
        }
        offer = try members.optionalText("offer")
        play = try members.optionalFlag("play")
        peerSession = try members.optionalText("peerSession")
        // To the hub it is nobody's to say, and to a device that reads the token it does not matter.
        grant = try? members.optional("grant", as: CallGrant.self)
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "kind": .string(kind.name), "source": .whole(source),
            "session": .string(session), "offer": .text(offer), "play": .flag(play), "token": .text(token),
            "peerSession": .text(peerSession), "grant": grant?.json,
        ])
    }
}

/// The result of `call.connect`: the device took the call.
public struct CallAcceptance: LinkValue, Hashable {
    public var session: String?
    /// To the caller's offer.
    public var answer: String?
    public var iceServers: [CallServer]
    /// When the right to the call ends; s since 1970.
    public var expires: Int64?

    public init(session: String, answer: String? = nil, iceServers: [CallServer], expires: Int64) {
        self.session = session
        self.answer = answer
        self.iceServers = iceServers
        self.expires = expires
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        session = try members.optionalText("session")
        answer = try members.optionalText("answer")
        iceServers = members.callServers("iceServers")
        expires = try members.optionalInteger("expiryTimeSeconds")
    }

    public var json: JSONValue {
        .members([
            "session": .text(session), "answer": .text(answer), "iceServers": .array(iceServers.map(\.json)),
            "expiryTimeSeconds": .whole(expires),
        ])
    }
}

/// A STUN or TURN server as a device names it (W3C's RTCIceServer). Whether it can be used is the caller's to judge.
public struct CallServer: LinkValue, Hashable {
    public var urls: [String]
    /// Empty where the server wants none.
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

    /// Those of the first 16 that can be read.
    func callServers(_ name: String) -> [CallServer] {
        (self[name]?.arrayValue ?? []).prefix(Self.mostServers).compactMap { server in
            try? CallServer(LinkMembers(server, of: method, failure: failure))
        }
    }
}
