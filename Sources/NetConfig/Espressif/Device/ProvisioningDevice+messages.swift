import Foundation
import IoTCore
import NIOCore
import SwiftProtobuf

// The messages inside the session: scan, configuration, binding.
extension ProvisioningDevice {
    enum Answer: Sendable {
        case body([UInt8])
        case afterScan
    }

    /// The number of networks that fit into an answer of the usual size.
    private static let largestPage = 64

    static let scanStarted: [UInt8] = {
        let payload = ESPScanPayload.with {
            $0.kind = 1
            $0.started = .init()
        }
        return (try? payload.serializedBytes()) ?? []
    }()

    /// `nil` if the request is not a message of this protocol.
    mutating func answer(_ plain: [UInt8], _ endpoint: ProvisioningEndpoint, at now: NIODeadline) -> Answer? {
        switch endpoint {
        case .version, .session: nil
        case .scan: answer(scan: plain, at: now)
        case .config: answer(config: plain, at: now).map(Answer.body)
        case .bind: answer(bind: plain, at: now).map(Answer.body)
        }
    }

    private mutating func answer(scan plain: [UInt8], at now: NIODeadline) -> Answer? {
        guard let payload = try? ESPScanPayload(serializedBytes: plain), Self.isWhole(payload) else { return nil }
        var reply = ESPScanPayload()
        switch (payload.kind, payload.payload) {
        case (0, .start(let start)?):
            if !isScanning {
                isScanning = true
                networks = nil
                emit(.scan)
            }
            if start.blocking { return .afterScan }
            return .body(Self.scanStarted)
        // The payload of a request without fields is optional.
        case (2, nil), (2, .statusRequest?):
            reply.kind = 3
            reply.statusReply = .with {
                $0.finished = networks != nil
                $0.count = UInt32(networks?.count ?? 0)
            }
        case (4, .resultRequest(let request)?):
            reply.kind = 5
            let found = networks ?? []
            let start = Int(request.start)
            if start > found.count || request.count > Self.largestPage * 4 {
                reply.status = .invalidArgument
            }
            let page = found.dropFirst(start).prefix(min(Int(request.count), Self.largestPage))
            reply.resultReply.networks = reply.status == .success ? page.map(ESPScanPayload.Network.init) : []
        default:
            return nil
        }
        return (try? reply.serializedBytes()).map(Answer.body)
    }

    private mutating func answer(config plain: [UInt8], at now: NIODeadline) -> [UInt8]? {
        guard let payload = try? ESPConfigPayload(serializedBytes: plain), Self.isWhole(payload) else { return nil }
        var reply = ESPConfigPayload()
        switch (payload.kind, payload.payload) {
        case (0, nil), (0, .getStatus?):
            reply.kind = 1
            reply.statusReply = status
            if case .connected = joining.station, joining.bindState == .unbound { joining.outcomeRead(at: now) }
        case (2, .set(let set)?):
            reply.kind = 3
            reply.setReply.status = take(set)
        case (4, nil), (4, .apply?):
            reply.kind = 5
            reply.applyReply.status = apply(at: now)
        default:
            return nil
        }
        return try? reply.serializedBytes()
    }

    /// Whether the message has no unknown fields. Noise that looks like a message has some: security 1 does not detect
    /// changed messages.
    private static func isWhole(_ payload: some Message) -> Bool {
        payload.unknownFields.data.isEmpty
    }

    private mutating func take(_ set: ESPConfigPayload.Set) -> ESPStatus {
        guard let ssid = String(validating: set.ssid, as: UTF8.self),
            let password = String(validating: set.password, as: UTF8.self), set.bssid.isEmpty || set.bssid.count == 6,
            let credentials = try? WiFiCredentials(ssid: ssid, password: password)
        else { return .invalidArgument }
        self.credentials = credentials
        joining.expectNetwork()
        return .success
    }

    private mutating func apply(at now: NIODeadline) -> ESPStatus {
        guard let credentials else { return .invalidArgument }
        joining.apply(credentials, at: now)
        return .success
    }

    private var status: ESPConfigPayload.StatusReply {
        .with { reply in
            switch joining.station {
            case .idle:
                reply.state = .disconnected
            case .joining:
                reply.state = .connecting
            case .connected(let connection):
                reply.state = .connected
                reply.connection = .with {
                    $0.address = connection.address
                    $0.ssid = Data(connection.ssid)
                    $0.bssid = Data(connection.bssid)
                    $0.channel = Int32(clamping: connection.channel)
                    $0.authentication = ESPAuthentication(rawValue: connection.authentication?.rawValue ?? 0) ?? .open
                }
            case .failed(let outcome):
                reply.state = .failed
                switch outcome {
                case .wrongPassword: reply.reason = .authentication
                case .networkNotFound: reply.reason = .notFound
                // The protocol has no number for other reasons.
                case .failed, .connected: break
                }
            }
        }
    }

    private mutating func answer(bind plain: [UInt8], at now: NIODeadline) -> [UInt8]? {
        guard let request = try? IoTBindRequest(serializedBytes: plain), Self.isWhole(request) else { return nil }
        if !(request.hub.isEmpty && request.token.isEmpty) {
            // Both are required, and the hub must be an address.
            guard let order = try? BindOrder(hub: request.hub, token: request.token) else { return nil }
            joining.take(order, at: now)
        }
        let reply = IoTBindReply.with {
            $0.deviceID = identity.id
            $0.keyFingerprint = Data(identity.keyFingerprint)
            switch joining.bindState {
            case .unbound: $0.state = .unbound
            case .waiting: $0.state = .waiting
            case .bound: $0.state = .bound
            case .failed(let code, let message):
                $0.state = .failed
                $0.errorCode = UInt32(clamping: code.rawValue)
                $0.message = message
            }
        }
        if case .bound = joining.bindState { joining.outcomeRead(at: now) }
        return try? reply.serializedBytes()
    }
}

extension ESPScanPayload.Network {
    fileprivate init(_ network: WiFiNetwork) {
        self = .with {
            $0.ssid = Data(network.ssid)
            $0.bssid = Data(network.bssid)
            $0.channel = UInt32(clamping: network.channel)
            $0.rssi = Int32(clamping: network.rssi)
            $0.authentication = ESPAuthentication(rawValue: network.authentication?.rawValue ?? 0) ?? .open
        }
    }
}
