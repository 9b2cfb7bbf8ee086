import Hummingbird
import IoTCore
import NIOCore
import RTSP

extension RTSPRefusal {
    /// The refusal for an error of the gateway, with the error's number and name.
    init(_ error: any Error) {
        guard let error = error as? IoTError else {
            self.init(.internalServerError)
            return
        }
        self.init(
            Self.status(of: error.code), "\(error.code.rawValue) \(error.code.name): \(error.messageWithRemedy)",
            code: error.code.rawValue)
    }

    /// RTSP uses HTTP's statuses, except in these cases.
    private static func status(of code: ErrorCode) -> RTSPStatus {
        switch HTTPResponse.Status(code) {
        case .tooManyRequests: .notEnoughBandwidth
        case .conflict, .unprocessableContent: .methodNotValidInState
        case .contentTooLarge: .bodyTooLarge
        case .badGateway, .gatewayTimeout: .serviceUnavailable
        case let status: RTSPStatus(rawValue: status.code)
        }
    }
}

extension SocketAddress {
    /// The address of a player. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes an IPv4 address.
    var playerAddress: IPAddress? {
        guard let text = ipAddress else { return nil }
        let mapped = "::ffff:"
        if text.hasPrefix(mapped), let address = IPAddress(text.dropFirst(mapped.utf8.count)) { return address }
        return IPAddress(text)
    }
}
