import Crypto
import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

/// A hub's core in virtual time, with an owner, a guest, a stranger and two devices: `front` belongs to the owner and
/// is shared with the guest, `back` has no owner.
struct CoreFixture {
    var core: HubCore
    var time = HubTime(monotonic: .uptimeNanoseconds(1_000_000_000), wall: 1_700_000_000_000)
    let front: DeviceID
    let back: DeviceID
    let owner = LinkAddress.random(.user(AccessID(rawValue: "owner")!))
    let guest = LinkAddress.random(.user(AccessID(rawValue: "guest")!))
    let stranger = LinkAddress.random(.user(AccessID(rawValue: "stranger")!))
    let camera: LinkAddress
    private(set) var stored: [StoreChange] = []
    /// The outputs of the last turn, messages and the broker's credentials, in order.
    private(set) var outputs: [HubOutput] = []
    private var nextID = 0

    init(limits: HubLimits = HubLimits(), ownAccount: AccessID? = nil, methods: HubMethods = .all) throws {
        core = HubCore(
            state: HubState(), authority: TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey())),
            identity: HubIdentity(address: .unixSocket(path: "/run/hub/broker.sock"), ownAccount: ownAccount),
            limits: limits, methods: methods)
        for address in [owner, guest, stranger] {
            try core.addUser(address.principal.accessID!, at: time)
        }
        front = try core.addDevice(named: "front")
        back = try core.addDevice(named: "back")
        try core.bind(owner.principal.accessID!, front, .owner, at: time)
        try core.bind(guest.principal.accessID!, front, .guest, at: time)
        camera = LinkAddress.random(.device(front))
    }

    mutating func advance(_ amount: TimeAmount) {
        time.monotonic = time.monotonic + amount
        time.wall += amount.nanoseconds / 1_000_000
    }

    /// Sends the turn's outputs, and the transaction's notices after them.
    private mutating func finish(_ turn: HubTurn) -> [Sent] {
        var turn = turn
        stored += turn.changes
        core.accept(turn)
        if let query = turn.query {
            core.prepareToRead()
            let outputs = turn.outputs
            turn = core.handle(result(of: query), at: time)
            stored += turn.changes
            core.accept(turn)
            turn.outputs = outputs + turn.outputs
        }
        core.keep()
        outputs = turn.outputs
        return (turn.outputs + core.takeNotices(at: time)).compactMap { output in
            guard case .message(let address, let bytes) = output, let envelope = try? Envelope(parsing: bytes) else {
                return nil
            }
            return Sent(address: address, envelope: envelope)
        }
    }

    /// There is no store here, so there are no events.
    private func result(of query: HubQuery) -> HubQueryResult {
        switch query {
        case .answer(let number, let request, let address):
            for case .answer(number, _, _, _, _, let reply) in stored {
                return .answer(.success(reply), number: number, to: request, from: address)
            }
            return .answer(.success(nil), number: number, to: request, from: address)
        case .events(_, let purpose): return .events(.success(EventRows()), purpose)
        }
    }

    mutating func send(_ address: LinkAddress, _ bytes: [UInt8]) -> [Sent] {
        let time = time
        return finish(core.handle(UplinkMessage(address: address, payload: bytes), at: time))
    }

    mutating func send(
        _ address: LinkAddress, _ envelope: Envelope
    ) throws -> [Sent] {
        send(address, try envelope.serialized())
    }

    mutating func timeout() -> [Sent] {
        let time = time
        return finish(core.handleTimeout(at: time))
    }

    mutating func sendRequest(
        _ address: LinkAddress, _ method: String, _ params: JSONValue = [:], id: String? = nil,
        deadline: Int64? = nil, actingAs: Principal? = nil
    ) throws -> [Sent] {
        nextID += 1
        return try send(
            address,
            .request(
                LinkRequest(
                    id: id ?? "r\(nextID)", method: method, actingAs: actingAs, params: params, t: time.wall,
                    deadline: deadline ?? time.wall + 10_000)))
    }

    /// Sends a request of the owner and returns what the hub forwards to the device.
    mutating func forwarded(_ method: String, _ params: JSONValue, id: String) throws -> LinkRequest {
        let sent = try sendRequest(owner, method, params, id: id)
        let request = try #require(sent.first { $0.address == camera })
        guard case .request(let request) = request.envelope else { throw IoTError(.internalFailure) }
        return request
    }

    /// The reply to the request; `nil` if there is none yet.
    mutating func request(
        _ address: LinkAddress, _ method: String, _ params: JSONValue = [:], id: String? = nil,
        deadline: Int64? = nil, actingAs: Principal? = nil
    ) throws -> LinkReply? {
        let sent = try sendRequest(address, method, params, id: id, deadline: deadline, actingAs: actingAs)
        for sent in sent where sent.address == address {
            if case .reply(let reply) = sent.envelope { return reply }
        }
        return nil
    }

    /// All sessions register, and the camera logs in.
    mutating func bringEverybodyOnline() throws {
        for address in [owner, guest, stranger, camera] { _ = try request(address, "session.begin") }
        _ = try request(camera, "model.login", try ModelLogin.sample().json)
    }
}

/// A message that the hub sent.
struct Sent {
    var address: LinkAddress
    var envelope: Envelope

    var replyCode: ErrorCode? { envelope.replyCode }

    var push: LinkPush? {
        if case .push(let push) = envelope { return push }
        return nil
    }

    var pushMethod: String? { push?.method }

    var request: LinkRequest? {
        if case .request(let request) = envelope { return request }
        return nil
    }
}

extension [Sent] {
    /// The replies to this address.
    func replies(to address: LinkAddress) -> [LinkReply] {
        compactMap { sent in
            guard sent.address == address, case .reply(let reply) = sent.envelope else { return nil }
            return reply
        }
    }
}
