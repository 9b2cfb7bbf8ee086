public import IoTCore

/// A message between the two sides of a call. The hub reads its route and forwards it unchanged.
public protocol CallMessage: LinkValue {
    var route: CallRoute { get }
}

/// The receiver of a call's message, and its call.
public struct CallRoute: LinkValue, Hashable {
    /// The other side.
    public var peer: Principal
    /// The call's name. When the member is not a string, the name is empty and matches no call.
    public var session: String
    /// From a device: the caller's link session (`CallRequest.peerSession`).
    public var peerSession: String?

    public init(peer: Principal, session: String, peerSession: String? = nil) {
        self.peer = peer
        self.session = session
        self.peerSession = peerSession
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        peer = try members.principal("peer")
        session = members["session"]?.stringValue ?? ""
        peerSession = try members.optionalText("peerSession")
    }

    public var json: JSONValue {
        .members([
            "peer": .string(peer.description), "session": .string(session), "peerSession": .text(peerSession),
        ])
    }
}

/// The parameters of `call.invite`: the device's offer.
public struct CallInvitation: CallMessage, Hashable {
    public var route: CallRoute
    /// SDP.
    public var offer: String
    /// The device's signature of the offer; `nil` from a device without a key, and from an older one.
    public var proof: DescriptionProof?
    public var iceServers: [CallServer]

    public init(_ route: CallRoute, offer: String, proof: DescriptionProof? = nil, iceServers: [CallServer]) {
        self.route = route
        self.offer = offer
        self.proof = proof
        self.iceServers = iceServers
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        route = try CallRoute(members)
        offer = try members.text("offer")
        proof = members.proof
        iceServers = members.callServers("iceServers")
    }

    public var json: JSONValue {
        route.json.merging(["offer": .string(offer), "iceServers": .array(iceServers.map(\.json))]).proven(by: proof)
    }
}

/// The result of `call.invite`.
public struct CallAnswer: LinkValue, Hashable {
    /// SDP.
    public var answer: String
    /// The caller's signature of the answer.
    public var proof: DescriptionProof?

    public init(answer: String, proof: DescriptionProof? = nil) {
        self.answer = answer
        self.proof = proof
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        answer = try members.text("answer")
        proof = members.proof
    }

    public var json: JSONValue { JSONValue.object(["answer": .string(answer)]).proven(by: proof) }
}

/// The parameters of `call.trickle`.
public struct CallCandidate: CallMessage, Hashable {
    public var route: CallRoute
    /// `candidate:…`. When it is empty or absent, no more candidates follow.
    public var candidate: String

    public init(_ route: CallRoute, candidate: String) {
        self.route = route
        self.candidate = candidate
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        route = try CallRoute(members)
        candidate = try members.optionalText("candidate") ?? ""
    }

    public var json: JSONValue { route.json.merging(["candidate": .string(candidate)]) }
}

/// A viewer's command for a connected channel.
public enum CallCommand: String, Sendable, Hashable, CaseIterable {
    case play
    case stop
}

/// The parameters of `call.control`.
public struct CallControl: CallMessage, Hashable {
    public var route: CallRoute
    public var command: CallCommand

    public init(_ route: CallRoute, _ command: CallCommand) {
        self.route = route
        self.command = command
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        route = try CallRoute(members)
        command = try members.word("command", of: CallCommand.self)
    }

    public var json: JSONValue { route.json.merging(["command": .string(command.rawValue)]) }
}

/// The parameters of `call.end`.
public struct CallEnding: CallMessage, Hashable {
    public var route: CallRoute
    /// `hungUp` when absent.
    public var code: ErrorCode
    public var message: String?

    public init(_ route: CallRoute, _ reason: IoTError) {
        self.route = route
        code = reason.code
        message = reason.message
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        route = try CallRoute(members)
        code = try members.optionalInteger("code").map { ErrorCode(rawValue: Int(clamping: $0)) } ?? .hungUp
        message = try members.optionalText("message")
    }

    public var reason: IoTError { IoTError(code, message) }

    public var json: JSONValue {
        route.json.merging(.members(["code": .integer(Int64(code.rawValue)), "message": .text(message)]))
    }
}
