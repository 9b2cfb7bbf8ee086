import Foundation
import IoTCore
import NIOCore
import SwiftProtobuf

// The messages inside the session: scan, configuration, binding.
extension ProvisioningClient {
    /// The number of networks requested at once, so that an answer stays small.
    private static let scanPage = 8

    static func endpoint(_ step: Step) -> ProvisioningEndpoint {
        switch step {
        case .version: .version
        case .opening, .proving: .session
        case .scanStart, .scanStatus, .scanResult: .scan
        case .set, .apply, .status: .config
        case .order, .bindState: .bind
        }
    }

    func message(_ step: Step) -> [UInt8] {
        var scan = ESPScanPayload()
        var config = ESPConfigPayload()
        switch step {
        case .scanStart:
            scan.kind = 0
            scan.start = .with {
                $0.blocking = true
                // As in Espressif's tools: after each five channels the access point can send its beacons.
                $0.groupChannels = 5
                $0.periodMs = 120
            }
        case .scanStatus:
            scan.kind = 2
            scan.statusRequest = .init()
        case .scanResult:
            scan.kind = 4
            scan.resultRequest = .with {
                $0.start = UInt32(outcome.networks.count)
                $0.count = UInt32(min(Self.scanPage, max(0, expectedNetworks - outcome.networks.count)))
            }
        case .set:
            config.kind = 2
            config.set = .with {
                $0.ssid = Data((plan.network?.ssid ?? "").utf8)
                $0.password = Data((plan.network?.password ?? "").utf8)
            }
        case .apply:
            config.kind = 4
            config.apply = .init()
        case .status:
            config.kind = 0
            config.getStatus = .init()
        case .order, .bindState:
            var request = IoTBindRequest()
            if step == .order, let bind = plan.bind {
                request.hub = bind.hub
                request.token = bind.token
            }
            return (try? request.serializedBytes()) ?? []
        case .version, .opening, .proving:
            return []
        }
        let isScan = Self.endpoint(step) == .scan
        return (isScan ? try? scan.serializedBytes() : try? config.serializedBytes()) ?? []
    }

    mutating func read(_ plain: [UInt8], _ step: Step, at now: NIODeadline) throws(IoTError) {
        switch Self.endpoint(step) {
        case .scan: try read(scan: parse(plain), step, at: now)
        case .config: try read(config: parse(plain), step, at: now)
        case .bind: try read(bind: parse(plain), step, at: now)
        case .version, .session: return
        }
    }

    private func parse<Payload: Message>(_ plain: [UInt8]) throws(IoTError) -> Payload {
        guard let payload = try? Payload(serializedBytes: plain) else {
            throw IoTError(.provisioningRefused, "the device's answer is not a message of this protocol")
        }
        return payload
    }

    private var outOfOrder: IoTError {
        IoTError(.provisioningRefused, "the device answered something else than it was asked")
    }

    private mutating func read(scan payload: ESPScanPayload, _ step: Step, at now: NIODeadline) throws(IoTError) {
        guard payload.status == .success else { throw IoTError.refusal(payload.status, "the scan") }
        switch (step, payload.payload) {
        case (.scanStart, .started):
            report(.scanning)
            outcome.networks = []
            proceed(to: .scanStatus, at: now)
        case (.scanStatus, .statusReply(let reply)):
            guard reply.finished else { return pause(.scanStatus, at: now) }
            expectedNetworks = min(Int(reply.count), Self.largestScan)
            if expectedNetworks == 0 { return try scanned(at: now) }
            proceed(to: .scanResult, at: now)
        case (.scanResult, .resultReply(let reply)):
            let room = max(0, expectedNetworks - outcome.networks.count)
            outcome.networks += reply.networks.prefix(room).map(WiFiNetwork.init)
            // An empty page means that there are no more.
            if reply.networks.isEmpty || outcome.networks.count >= expectedNetworks { return try scanned(at: now) }
            proceed(to: .scanResult, at: now)
        default:
            throw outOfOrder
        }
    }

    private mutating func scanned(at now: NIODeadline) throws(IoTError) {
        report(.networks(outcome.networks))
        guard plan.network != nil else { return finish(.success(outcome)) }
        proceed(to: .set, at: now)
    }

    private mutating func read(config payload: ESPConfigPayload, _ step: Step, at now: NIODeadline) throws(IoTError) {
        switch (step, payload.payload) {
        case (.set, .setReply(let reply)):
            guard reply.status == .success else {
                throw IoTError.refusal(reply.status, "the network's name or password")
            }
            report(.configured)
            proceed(to: plan.bind == nil ? .apply : .order, at: now)
        case (.apply, .applyReply(let reply)):
            guard reply.status == .success else { throw IoTError.refusal(reply.status, "to join the network") }
            isApplied = true
            report(.connecting(attemptsLeft: nil))
            pause(.status, at: now)
        case (.status, .statusReply(let reply)):
            guard reply.status == .success else { throw IoTError.refusal(reply.status, "to report its state") }
            try read(state: reply, at: now)
        default:
            throw outOfOrder
        }
    }

    private mutating func read(state reply: ESPConfigPayload.StatusReply, at now: NIODeadline) throws(IoTError) {
        switch reply.state {
        case .connected:
            let connection = WiFiConnection(reply.connection, wanted: plan.network)
            if outcome.connection == nil { report(.connected(connection)) }
            outcome.connection = connection
            guard plan.bind != nil else { return finish(.success(outcome)) }
            proceed(to: .bindState, at: now)
        case .connecting:
            if case .attemptFailed(let failed)? = reply.detail {
                report(.connecting(attemptsLeft: Int(failed.remaining)))
            }
            pause(.status, at: now)
        case .disconnected:
            // The device did not receive the request to join: it was lost.
            isApplied = false
            proceed(to: .set, at: now)
        case .failed:
            switch reply.detail {
            case .reason(.authentication)?: throw IoTError(.wifiPasswordWrong)
            case .reason(.notFound)?: throw IoTError(.wifiNetworkNotFound)
            default: throw IoTError(.wifiFailed)
            }
        case .UNRECOGNIZED:
            throw outOfOrder
        }
    }

    private mutating func read(bind reply: IoTBindReply, _ step: Step, at now: NIODeadline) throws(IoTError) {
        let id = reply.deviceID.shown(64)
        outcome.device = DeviceIdentity(id: id, keyFingerprint: Array(reply.keyFingerprint.prefix(64)))
        if step == .order {
            if let device = outcome.device { report(.ordered(device)) }
            outcome.bind = .waiting
            return proceed(to: .apply, at: now)
        }
        switch reply.state {
        case .bound:
            outcome.bind = .bound
            finish(.success(outcome))
        case .failed:
            let code = ErrorCode(rawValue: Int(reply.errorCode))
            let known = ErrorCatalogue.entry(code) == nil ? ErrorCode.provisioningServer : code
            throw IoTError(known, reply.message.isEmpty ? nil : reply.message.shown(500))
        case .waiting:
            report(.binding)
            pause(.bindState, at: now)
        case .unbound, .UNRECOGNIZED:
            throw outOfOrder
        }
    }
}

extension WiFiNetwork {
    fileprivate init(_ network: ESPScanPayload.Network) {
        self.init(
            // Some devices send the zeros of the name's fixed-size field.
            ssid: Array(network.ssid.prefix(32).prefix { $0 != 0 }), bssid: Array(network.bssid.prefix(6)),
            channel: Int(network.channel), rssi: Int(network.rssi),
            authentication: Authentication(rawValue: network.authentication.rawValue))
    }
}

extension WiFiConnection {
    fileprivate init(_ connection: ESPConfigPayload.Connection, wanted: WiFiCredentials?) {
        let ssid = Array(connection.ssid.prefix(32).prefix { $0 != 0 })
        self.init(
            address: connection.address.shown(45),
            ssid: ssid.isEmpty ? Array((wanted?.ssid ?? "").utf8) : ssid, bssid: Array(connection.bssid.prefix(6)),
            channel: Int(connection.channel),
            authentication: WiFiNetwork.Authentication(rawValue: connection.authentication.rawValue))
    }
}
